package dev.evenkeel.protocol;

/** What an owner tells the log of a message that its handler failed, or that waits behind one. */
public sealed interface Outcome {
  /** The queue of messages that have no order. */
  long NO_KEY = 0;

  long offset();

  /** The message as {@code wire.MessageCodec} writes it, or null. */
  byte[] copy();

  /** What is to become of a failed message. */
  enum Way {
    /** It keeps its place in the owner's window; only the count of its attempts is kept. */
    HELD,
    /** The log keeps its copy and gives it out again; the window moves on. */
    MOVED,
    /** No further attempt: it becomes a dead letter. */
    DEAD
  }

  /**
   * An attempt has failed. Nothing happens unless it is the one after those that the log has
   * counted, so that it may be told again.
   *
   * @param attempt 1 for the first
   * @param delayMillis until the next attempt, by the clock of the log's leader
   * @param keyHash messages of the same queue keep their order; {@link #NO_KEY}: none
   * @param error class and message, for people; at most {@link Limits#ERROR_CHARS_MAX} letters
   * @param copy the message as {@code wire.MessageCodec} writes it; needed with DEAD and with the
   *     first MOVED, else null
   */
  record Failed(
      long offset, int attempt, Way way, long delayMillis, long keyHash, String error, byte[] copy)
      implements Outcome {}

  /** It waits behind an earlier message of its queue, and has not been tried. */
  record Parked(long offset, long keyHash, byte[] copy) implements Outcome {}

  /** A moved message was handled. */
  record Settled(long offset) implements Outcome {
    @Override
    public byte[] copy() {
      return null;
    }
  }
}
