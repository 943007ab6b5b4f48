/**
 * The HTTP API and the files of the live page. No other package uses Vert.x Web.
 *
 * <p>It decides nothing: it passes requests on over the event bus. Begin with {@link
 * dev.evenkeel.gateway.http.WebVerticle}.
 */
package dev.evenkeel.gateway.http;
