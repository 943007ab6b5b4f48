/**
 * The HTTP API and the page's files. No other package knows Vert.x Web.
 *
 * <p>It decides nothing: it passes requests on over the event bus. Begin with {@link
 * dev.evenkeel.gateway.http.WebVerticle}.
 */
package dev.evenkeel.gateway.http;
