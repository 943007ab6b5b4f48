package dev.evenkeel.broker.serve;

import dev.evenkeel.broker.state.TailCache.Cached;
import dev.evenkeel.protocol.MessageFilter;
import dev.evenkeel.protocol.RefusedException;
import dev.evenkeel.protocol.wire.Batch;
import dev.evenkeel.protocol.wire.BatchHeader;
import dev.evenkeel.protocol.wire.BatchWalk;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.List;

/**
 * Takes the wanted messages out of batches. Neighbours become a batch of their own. A batch is left
 * whole if it would not become smaller, or cannot be read: the client looks at each message, too.
 */
final class FilteredBatches {
  /** What came of some batches. */
  static final class Found {
    /** An answer of which the head is missing; null: no message is wanted. */
    private final ByteBuffer frame;

    private final long next;
    private final long messages;
    private final long bytes;

    private Found(ByteBuffer frame, long next, long messages, long bytes) {
      this.frame = frame;
      this.next = next;
      this.messages = messages;
      this.bytes = bytes;
    }

    ByteBuffer frame() {
      return frame;
    }

    /** Everything below this offset was looked at. */
    long next() {
      return next;
    }

    /** Messages in the answer. */
    long messages() {
      return messages;
    }

    /** Bytes of the batches in the answer. */
    long bytes() {
      return bytes;
    }
  }

  private final FetchFrame frames;
  private final long offset;
  private final MessageFilter filter;
  private final int bytesMax;
  private final int messagesMax;
  private ByteBuffer out;

  /** Of the batch at hand: position, count, begin and end in the walk of each run of neighbours. */
  private int[] runs = new int[4 * 64];

  private int runCount;
  private int taken;
  private int runBytes;

  private FilteredBatches(
      FetchFrame frames, long offset, MessageFilter filter, int bytesMax, int messagesMax) {
    this.frames = frames;
    this.offset = offset;
    this.filter = filter;
    this.bytesMax = bytesMax;
    this.messagesMax = messagesMax;
  }

  /**
   * @param batches at least one
   * @param frames the form of the answer
   * @param offset the first message wanted
   * @param bytesMax the answer has more than one of the batches only within this size
   * @param messagesMax like bytesMax
   */
  static Found of(
      List<Cached> batches,
      FetchFrame frames,
      long offset,
      MessageFilter filter,
      int bytesMax,
      int messagesMax) {
    return new FilteredBatches(frames, offset, filter, bytesMax, messagesMax).take(batches);
  }

  private Found take(List<Cached> batches) {
    long messages = 0;
    long bytes = 0;
    int count = 0;
    for (Cached each : batches) {
      Batch batch = each.batch();
      BatchWalk walk = lookAt(batch, (int) Math.max(0, offset - each.baseOffset()));
      boolean whole = walk == null || taken == batch.count() || runBytes >= batch.length();
      int more = whole ? batch.length() : runBytes;
      int moreMessages = whole ? batch.count() : taken;
      if (count > 0 && (bytes + more > bytesMax || messages + moreMessages > messagesMax)) {
        return found(each.baseOffset(), messages, bytes);
      }
      if (whole) {
        room(frames.placeBytes() + batch.length());
        frames.putPlace(out, each.baseOffset(), each.logIndex());
        out.put(batch.bytes().duplicate().clear());
      } else {
        write(each, walk);
      }
      bytes += more;
      messages += moreMessages;
      count += moreMessages > 0 ? 1 : 0;
    }
    return found(batches.get(batches.size() - 1).endOffset(), messages, bytes);
  }

  private Found found(long next, long messages, long bytes) {
    return new Found(messages == 0 ? null : out.flip(), next, messages, bytes);
  }

  /**
   * Finds the runs of a batch. Returns null if it cannot be read.
   *
   * @param from position of the first message wanted
   */
  private BatchWalk lookAt(Batch batch, int from) {
    runCount = 0;
    taken = 0;
    runBytes = 0;
    BatchWalk walk;
    try {
      walk = batch.walk();
    } catch (RefusedException unreadable) {
      return null;
    }
    boolean before = false;
    for (int i = 0; i < batch.count(); i++) {
      if (!walk.overOne()) {
        return null;
      }
      boolean wanted = i >= from && walk.isTakenBy(filter);
      if (wanted) {
        add(i, walk, before);
      }
      before = wanted;
    }
    return walk;
  }

  private void add(int position, BatchWalk walk, boolean before) {
    taken++;
    runBytes += walk.messageTo() - walk.messageFrom();
    if (before) {
      runs[4 * runCount - 3]++;
      runs[4 * runCount - 1] = walk.messageTo();
      return;
    }
    if (4 * runCount == runs.length) {
      runs = Arrays.copyOf(runs, 2 * runs.length);
    }
    int at = 4 * runCount++;
    runs[at] = position;
    runs[at + 1] = 1;
    runs[at + 2] = walk.messageFrom();
    runs[at + 3] = walk.messageTo();
    runBytes += BatchHeader.BYTES + frames.placeBytes();
  }

  private void write(Cached each, BatchWalk walk) {
    if (runCount == 0) {
      return;
    }
    room(runBytes);
    for (int at = 0; at < 4 * runCount; at += 4) {
      frames.putPlace(out, each.baseOffset() + runs[at], each.logIndex());
      each.batch().writePart(out, walk, runs[at], runs[at + 1], runs[at + 2], runs[at + 3]);
    }
  }

  private void room(int more) {
    if (out == null) {
      int head = frames.headBytes();
      out = ByteBuffer.allocate(head + Math.max(more, 4 << 10)).position(head);
    } else if (out.remaining() < more) {
      int capacity = Math.max(2 * out.capacity(), out.position() + more);
      out = ByteBuffer.allocate(capacity).put(out.flip());
    }
  }
}
