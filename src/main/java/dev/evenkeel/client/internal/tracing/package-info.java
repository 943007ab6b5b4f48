/**
 * Spans of producers and consumers, made by the tracer of the Vert.x that the client uses. Without
 * a tracer nothing of this package exists at run time, and no header is added to a message.
 *
 * <p>Names and attributes follow the semantic conventions of OpenTelemetry for messaging.
 */
package dev.evenkeel.client.internal.tracing;
