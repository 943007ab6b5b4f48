/**
 * The JSON API for programs without the Java client, at documented event-bus addresses.
 *
 * <p>Begin with {@link dev.evenkeel.gateway.GatewayVerticle}. {@code gateway.http} offers the same
 * over HTTP, {@code gateway.live} feeds the page.
 */
package dev.evenkeel.gateway;
