/**
 * The client port of a node: applications open connections to it, and a node passes their requests
 * on to the verticles that answer them.
 *
 * <p>Begin with {@link dev.evenkeel.gateway.session.SessionVerticle}; {@code SessionConnection}
 * speaks the protocol of {@code bus.frame} on one connection, and {@code SessionAddresses} says
 * what a session may use.
 */
package dev.evenkeel.gateway.session;
