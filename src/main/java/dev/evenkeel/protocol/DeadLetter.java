package dev.evenkeel.protocol;

import org.jspecify.annotations.Nullable;

/**
 * A message of which every attempt failed.
 *
 * @param shard its origin
 * @param offset its place there, and its name among the dead letters of a group
 * @param attempts how often it was tried
 * @param error of the last attempt: class and message
 * @param firstFailedMillis when the first attempt failed, in milliseconds since 1970
 * @param lastFailedMillis when the last attempt failed
 * @param copy the message as {@code wire.MessageCodec} writes it; null: it is elsewhere
 */
public record DeadLetter(
    Shard shard,
    long offset,
    int attempts,
    String error,
    long firstFailedMillis,
    long lastFailedMillis,
    byte @Nullable [] copy) {

  public DeadLetter with(byte @Nullable [] newCopy) {
    return new DeadLetter(
        shard, offset, attempts, error, firstFailedMillis, lastFailedMillis, newCopy);
  }
}
