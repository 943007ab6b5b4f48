/**
 * The client for code without Vert.x: methods that wait, and {@code CompletionStage}s. {@link
 * dev.evenkeel.client.plain.PlainClient} is where to begin.
 */
package dev.evenkeel.client.plain;
