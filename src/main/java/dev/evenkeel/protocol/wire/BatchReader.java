package dev.evenkeel.protocol.wire;

import dev.evenkeel.protocol.MalformedException;
import dev.evenkeel.protocol.Message;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Reads the messages of a batch in order. They are views of its bytes.
 *
 * <p>If the batch's inside is malformed or cannot be unpacked, {@link #next()} throws {@link
 * MalformedException} at the first message that it cannot read, and at each message behind it:
 * {@link #giveUp} skips one.
 */
public final class BatchReader {
  private final long firstTimestamp;
  private final int count;
  private final long endOffset;
  private @Nullable BatchWalk walk;
  private long nextOffset;
  private @Nullable MalformedException broken;

  BatchReader(Batch batch, long baseOffset) {
    try {
      walk = new BatchWalk(batch.messages(), 0);
    } catch (MalformedException malformed) {
      broken = malformed;
    }
    firstTimestamp = batch.firstTimestampMillis();
    count = batch.count();
    nextOffset = baseOffset;
    endOffset = baseOffset + count;
  }

  public boolean hasNext() {
    return nextOffset < endOffset;
  }

  /** The offset of the message that {@link #next()} reads. */
  public long nextOffset() {
    return nextOffset;
  }

  /** Skips a message that cannot be read. The messages behind it cannot be read either. */
  public void giveUp() {
    nextOffset++;
  }

  /** The next message, a view of the batch. */
  public Message next() {
    BatchWalk walk = this.walk;
    if (broken == null && walk != null && !walk.overOne()) {
      // Where the next one begins is unknown.
      long number = count - (endOffset - nextOffset) + 1;
      broken = Batch.malformed("message " + number + " of " + count + " ends early");
    }
    if (walk == null || broken != null) {
      throw Objects.requireNonNull(broken);
    }
    nextOffset++;
    return walk.message(firstTimestamp);
  }
}
