package dev.evenkeel.client.internal.consume;

/**
 * Decides when a consumer may fetch, and when it may unpack more of what it has fetched. It stops
 * fetching once the limit of pending messages or bytes is reached over all shards, and resumes
 * below half of both.
 *
 * <p>A shard of whose last answer at most half is left may fetch even then. So the next answer
 * comes while there is still work, also if one batch is as large as the limit, and a shard that
 * waits through the retries of a message does not stall others. A batch that was asked for is
 * taken: to fetch it again would cost more. So at most the limit and two batches a shard are
 * pending. What exceeds the limit of messages stays packed, and takes no more memory than its
 * bytes: see {@link #mayUnpack}. {@link #fetchBytes} and {@link #fetchMessages} keep the sum of all
 * answers near half of the limit.
 */
final class FlowControl {
  /** The smallest answer that a fetch asks for, however many shards there are: 64 KiB. */
  static final int FETCH_BYTES_MIN = 64 << 10;

  /** The same in messages: among many shards with little traffic, a busy one need not ask often. */
  static final int FETCH_MESSAGES_MIN = 128;

  private final long messagesMax;
  private final long bytesMax;
  long messages;
  long bytes;

  /** How many of {@link #messages} were not unpacked yet. */
  long packed;

  boolean paused;

  FlowControl(long messagesMax, long bytesMax) {
    this.messagesMax = messagesMax;
    this.bytesMax = bytesMax;
  }

  void added(long moreMessages, long moreBytes) {
    messages += moreMessages;
    bytes += moreBytes;
    if (messages >= messagesMax || bytes >= bytesMax) {
      paused = true;
    }
  }

  /** Returns whether fetching may go on now and could not before. */
  boolean removed(long fewerMessages, long fewerBytes) {
    messages -= fewerMessages;
    bytes -= fewerBytes;
    if (paused && messages * 2 < messagesMax && bytes * 2 < bytesMax) {
      paused = false;
      return true;
    }
    return false;
  }

  /**
   * Whether another message may be unpacked, because the limit is not reached by those that are.
   *
   * @param over how many of the unpacked messages are over
   */
  boolean mayUnpack(long over) {
    return messages - packed - over < messagesMax;
  }

  /**
   * @param low whether at most half of the last answer of the shard is left
   */
  boolean mayFetch(boolean low) {
    return !paused || low;
  }

  /** Whether there is room for a further batch of an answer; if not, fetching pauses. */
  boolean takes(long moreMessages, long moreBytes) {
    boolean room = messages + moreMessages <= messagesMax && bytes + moreBytes <= bytesMax;
    paused |= !room;
    return room;
  }

  /** How many messages one fetch may ask for while {@code shards} are pulled. */
  int fetchMessages(int shards) {
    long share = Math.max(FETCH_MESSAGES_MIN, messagesMax / (2L * Math.max(1, shards)));
    return (int) Math.max(1, Math.min(share, messagesMax - messages));
  }

  /** How many bytes one fetch may ask for while {@code shards} are pulled. */
  int fetchBytes(int fetchBytesMax, int shards) {
    long share = bytesMax / (2L * Math.max(1, shards));
    return (int) Math.min(fetchBytesMax, Math.max(FETCH_BYTES_MIN, share));
  }
}
