package dev.evenkeel.broker.state;

import dev.evenkeel.protocol.wire.Codec;

/**
 * A message that waits after a failure, or behind one.
 *
 * @param attempts that have failed so far
 * @param dueMillis {@link LogTime} from which the next one may begin; of no meaning while parked
 * @param keyHash hash of the key whose order it keeps; 0: it keeps none
 * @param firstFailedMillis when the first attempt failed; 0: none has
 * @param lastFailedMillis when the last attempt failed
 * @param bytes that its message counts for, see {@link KeptMessage}; 0 for one that is held
 */
public record FailureEntry(
    Kind kind,
    int attempts,
    long dueMillis,
    long keyHash,
    long firstFailedMillis,
    long lastFailedMillis,
    int bytes) {
  public static final Codec<FailureEntry> CODEC = Codec.record(FailureEntry.class);

  /** Where a message waits. The order is part of the format on disk. */
  public enum Kind {
    /** In the owner's window. */
    HELD,
    /** Here, until it is due. */
    WAITING,
    /** Here, until the earlier messages of its key are gone. */
    PARKED
  }

  /** Waiting from {@code nowMillis} on: no earlier message of its key is left. */
  public FailureEntry promoted(long nowMillis) {
    return new FailureEntry(
        Kind.WAITING, attempts, nowMillis, keyHash, firstFailedMillis, lastFailedMillis, bytes);
  }

  /** Parked: an earlier message of its key waits. */
  public FailureEntry behind() {
    return new FailureEntry(
        Kind.PARKED, attempts, dueMillis, keyHash, firstFailedMillis, lastFailedMillis, bytes);
  }

  public FailureEntry failed(long dueMillis, long nowMillis) {
    long first = attempts == 0 ? nowMillis : firstFailedMillis;
    return new FailureEntry(kind, attempts + 1, dueMillis, keyHash, first, nowMillis, bytes);
  }
}
