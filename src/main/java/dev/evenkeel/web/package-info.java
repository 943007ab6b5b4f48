/**
 * The HTTP API: routes, health, and errors as JSON.
 *
 * <p>It decides nothing: requests go over the event bus to broker and dispatcher. It imports {@code
 * model}, {@code bus} and {@code cluster}, and is the only place that knows Vert.x Web.
 */
package dev.evenkeel.web;
