/**
 * The offsets of a consumer in mode broadcast, and the directory in which it keeps them.
 *
 * <p>Begin with {@code StoredPositions}.
 */
package dev.evenkeel.client.internal.broadcast;
