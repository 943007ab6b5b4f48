package dev.evenkeel.broker.state;

import dev.evenkeel.protocol.Limits;
import dev.evenkeel.protocol.wire.Batch;

/**
 * Bounds one look into batches. A few bytes of compressed batches can hold millions of messages: 70
 * bytes unpack to 65,535 of them, or to 1 MiB. So a look counts what it unpacks, and the messages
 * it walks over, and takes some milliseconds whatever it finds. It takes at least one batch, which
 * is within the limits of a batch.
 */
public final class LookBounds {
  /** Bytes of batches as they are stored. */
  public static final int BYTES = 1 << 20;

  /** Messages: as many as one batch can hold. */
  public static final int MESSAGES = Limits.BATCH_MESSAGES_MAX;

  /** Bytes when they are unpacked: of the largest batch, and some. */
  public static final int UNPACKED_BYTES = 2 << 20;

  /** To find and check a batch takes as long as to look at so many bytes, however small it is. */
  public static final int BATCH_BYTES_MIN = 512;

  /** Batches of a look: more cannot fit into {@link #UNPACKED_BYTES}. */
  public static final int BATCHES = UNPACKED_BYTES / BATCH_BYTES_MIN;

  private long messages;
  private long bytes;

  /** Counts a batch. Returns whether the look may take it: the first one, or one that fits. */
  public boolean take(Batch batch) {
    return take(batch.count(), batch.unpackedLength());
  }

  /** As {@link #take(Batch)}. */
  public boolean take(long moreMessages, long unpackedBytes) {
    boolean first = bytes == 0;
    messages += moreMessages;
    bytes += Math.max(unpackedBytes, BATCH_BYTES_MIN);
    return first || messages <= MESSAGES && bytes <= UNPACKED_BYTES;
  }
}
