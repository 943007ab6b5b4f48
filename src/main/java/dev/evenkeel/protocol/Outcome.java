package dev.evenkeel.protocol;

import org.jspecify.annotations.Nullable;

/**
 * What an owner reports to the log about a message that its handler failed, or that waits behind a
 * failed one.
 */
public sealed interface Outcome {
  /** In place of a key's hash: the message keeps no order. */
  long NO_KEY = 0;

  long offset();

  /**
   * The message as {@code wire.MessageCodec} writes it. Only clients of former versions send it.
   * The log takes it only if retention has dropped the message, see ADR 27.
   */
  byte @Nullable [] copy();

  /** What happens next to a failed message. */
  enum Way {
    /** It keeps its place in the owner's window; only the count of its attempts is kept. */
    HELD,
    /** The log keeps it and gives it out again; the window moves on. */
    MOVED,
    /** No further attempt: it becomes a dead letter. */
    DEAD
  }

  /**
   * An attempt has failed. It counts only if it is the one after those that the log has counted, so
   * a report may be repeated.
   *
   * @param attempt 1 for the first
   * @param delayMillis until the next attempt, by the clock of the log's leader
   * @param keyHash hash of the message's key: messages with the same hash keep their order; {@link
   *     #NO_KEY}: none
   * @param error class and message, for people; at most {@link Limits#ERROR_CHARS_MAX} letters
   * @param copy see {@link Outcome#copy()}
   */
  record Failed(
      long offset,
      int attempt,
      Way way,
      long delayMillis,
      long keyHash,
      String error,
      byte @Nullable [] copy)
      implements Outcome {}

  /** The message waits behind an earlier one of its key, and has not been tried. */
  record Parked(long offset, long keyHash, byte[] copy) implements Outcome {}

  /**
   * In a shard that is handled with care, a message is about to begin, so that the log knows it
   * should its owner die; see {@link Crashes}.
   *
   * @param over it has ended without another outcome, and will begin again later
   */
  record Begun(long offset, boolean over) implements Outcome {
    @Override
    public byte @Nullable [] copy() {
      return null;
    }
  }

  /**
   * A level dispatcher says that members died that had this message in hand, or one of those behind
   * it, so that the dispatchers after it know; see {@link Crashes}. It may be repeated.
   *
   * @param deaths how many members died, probably of one of the messages below {@code until}
   */
  record Died(long offset, int deaths, long until) implements Outcome {
    @Override
    public byte @Nullable [] copy() {
      return null;
    }
  }

  /** A moved message was handled. */
  record Settled(long offset) implements Outcome {
    @Override
    public byte @Nullable [] copy() {
      return null;
    }
  }
}
