/**
 * The offsets of a consumer in mode broadcast, and the bytes that it keeps them in.
 *
 * <p>Begin with {@code BroadcastPositions}. The files themselves are in {@code broadcast.files}.
 */
package dev.evenkeel.client.internal.broadcast;
