package dev.evenkeel.broker.serve;

import dev.evenkeel.broker.state.TailCache.Cached;
import dev.evenkeel.bus.FetchRequest;
import dev.evenkeel.protocol.MessageFilter;
import dev.evenkeel.protocol.RefusedException;
import dev.evenkeel.protocol.wire.Batch;
import dev.evenkeel.protocol.wire.BatchHeader;
import dev.evenkeel.protocol.wire.BatchWalk;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.List;

/**
 * Collects the messages of a shard that one fetch wants. Neighbours become a batch of their own. A
 * batch is left whole if it would not become smaller, or cannot be read: the client looks at each
 * message, too.
 */
final class FilteredBatches {
  /**
   * What came of some batches.
   *
   * @param frame an answer of which the head is missing; null: no message is wanted
   * @param next everything below this offset was looked at
   * @param messages in the answer
   * @param bytes of the batches in the answer
   */
  record Found(ByteBuffer frame, long next, long messages, long bytes) {}

  /** What a message takes in an answer beside its own bytes, at most. */
  static final int PART_BYTES = BatchHeader.BYTES + 2 * Long.BYTES;

  /** Integers that describe a run: position, number, begin and end in the bytes of the walk. */
  private static final int RUN = 4;

  private final FetchFrame frames;
  private final FetchRequest request;
  private final int bytesMax;
  private ByteBuffer out;
  private long messages;
  private long bytes;

  /** The first message for which there was no room, or -1. */
  private long cut = -1;

  /** The offset behind the last batch that was taken whole. */
  private long wholeTo;

  // Of the batch at hand

  private Cached batch;
  private BatchWalk walk;
  private int[] runs = new int[RUN];
  private int runCount;
  private int taken;
  private int runBytes;

  /**
   * @param frames the form of the answer
   * @param request has the filter, and where it begins
   */
  FilteredBatches(FetchFrame frames, FetchRequest request) {
    this.frames = frames;
    this.request = request;
    bytesMax = FetchFrame.batchBytesMax(request.bytesMax());
  }

  /** Takes what a fetch wants of some batches. */
  static Found of(List<Cached> batches, FetchFrame frames, FetchRequest request) {
    FilteredBatches found = new FilteredBatches(frames, request);
    MessageFilter filter = request.filter();
    for (Cached each : batches) {
      if (found.cut >= 0) {
        break;
      }
      BatchWalk walk = walk(each.batch());
      if (walk == null) {
        found.addWhole(each);
        continue;
      }
      for (int i = 0; i < each.batch().count(); i++) {
        if (!walk.overOne()) {
          found.addWhole(each);
          break;
        }
        if (walk.isTakenBy(filter)) {
          found.add(each, walk, i);
        }
      }
    }
    return found.end(batches.get(batches.size() - 1).endOffset());
  }

  /** Null if the batch cannot be read. */
  static BatchWalk walk(Batch batch) {
    try {
      return batch.walk();
    } catch (RefusedException unreadable) {
      return null;
    }
  }

  /**
   * Takes the message over which the walk has gone last, if it is not before the first one wanted.
   *
   * @param position in the batch, higher than that of the last one taken
   */
  void add(Cached from, BatchWalk over, int position) {
    if (from.baseOffset() + position < request.offset()) {
      return;
    }
    if (from != batch) {
      write();
      batch = from;
      walk = over;
      runCount = 0;
      taken = 0;
      runBytes = 0;
    }
    taken++;
    runBytes += over.messageTo() - over.messageFrom();
    int last = RUN * (runCount - 1);
    if (runCount > 0 && runs[last] + runs[last + 1] == position) {
      runs[last + 1]++;
      runs[last + 3] = over.messageTo();
      return;
    }
    int at = RUN * runCount++;
    if (at == runs.length) {
      runs = Arrays.copyOf(runs, 2 * runs.length);
    }
    runs[at] = position;
    runs[at + 1] = 1;
    runs[at + 2] = over.messageFrom();
    runs[at + 3] = over.messageTo();
    runBytes += BatchHeader.BYTES + frames.placeBytes();
  }

  /** Takes a batch that cannot be read. */
  void addWhole(Cached each) {
    if (each.endOffset() <= request.offset()) {
      return;
    }
    if (batch != each) {
      write();
    }
    batch = each;
    walk = null;
    taken = each.batch().count();
  }

  /**
   * Ends it.
   *
   * @param next everything below this offset was looked at
   */
  Found end(long next) {
    write();
    // A batch that is left whole has the messages behind that, too.
    long upTo = cut < 0 ? Math.max(next, wholeTo) : cut;
    return new Found(messages == 0 ? null : out.flip(), upTo, messages, bytes);
  }

  /** Writes the batch at hand, if there is room for it. */
  private void write() {
    if (batch == null || cut >= 0) {
      return;
    }
    int length = batch.batch().length();
    boolean whole = walk == null || taken == batch.batch().count() || runBytes >= length;
    int more = whole ? length : runBytes;
    int moreMessages = whole ? batch.batch().count() : taken;
    if (messages > 0
        && (bytes + more > bytesMax || messages + moreMessages > request.messagesMax())) {
      cut = batch.baseOffset();
      return;
    }
    bytes += more;
    messages += moreMessages;
    if (whole) {
      room(frames.placeBytes() + length);
      frames.putPlace(out, batch.baseOffset(), batch.logIndex());
      out.put(batch.batch().bytes().duplicate().clear());
      wholeTo = batch.endOffset();
    } else {
      room(runBytes);
      for (int at = 0; at < RUN * runCount; at += RUN) {
        frames.putPlace(out, batch.baseOffset() + runs[at], batch.logIndex());
        batch.batch().writePart(out, walk, runs[at], runs[at + 1], runs[at + 2], runs[at + 3]);
      }
    }
    batch = null;
    walk = null;
  }

  private void room(int more) {
    if (out == null) {
      int head = frames.headBytes();
      out = ByteBuffer.allocate(head + more).position(head);
    } else if (out.remaining() < more) {
      int capacity = Math.max(2 * out.capacity(), out.position() + more);
      out = ByteBuffer.allocate(capacity).put(out.flip());
    }
  }
}
