package dev.evenkeel.client.internal.consume;

import dev.evenkeel.bus.FetchAnswer;
import dev.evenkeel.protocol.RefusedException;
import dev.evenkeel.protocol.wire.BatchReader;
import java.util.ArrayDeque;

/**
 * The batches of one shard that were fetched and not yet decoded. Messages are decoded one by one.
 */
final class Backlog {
  /** A batch, with the first of its offsets that is wanted. */
  private record WaitingBatch(FetchAnswer.Placed placed, long from) {}

  private final ArrayDeque<WaitingBatch> batches = new ArrayDeque<>();
  private BatchReader reader;
  private FetchAnswer.Placed reading;
  private boolean broken;
  private int share;
  private long wantedFrom;

  /** Adds a batch whose checksum is right. Messages below {@code from} are skipped. */
  void add(FetchAnswer.Placed placed, long from) {
    batches.add(new WaitingBatch(placed, from));
  }

  /** The bytes that each message of a batch counts for: its share of the unpacked batch. */
  static int share(FetchAnswer.Placed placed) {
    int count = placed.batch().count();
    return (placed.batch().unpackedLength() + count - 1) / count;
  }

  /** The offset of the message that {@link #next} decodes, or -1 if there is none. */
  long nextOffset() {
    if (reader != null && reader.hasNext()) {
      return Math.max(wantedFrom, reader.nextOffset());
    }
    WaitingBatch waiting = batches.peek();
    return waiting == null ? -1 : waiting.from();
  }

  /**
   * The next message as a task of {@code owner}, or null. A malformed part of a batch becomes tasks
   * that are {@link Task#hopeless}, one for each offset that the batch has taken.
   */
  Task next(Task.Owner owner) {
    while (reader == null || !reader.hasNext()) {
      WaitingBatch waiting = batches.poll();
      if (waiting == null) {
        reader = null;
        reading = null;
        return null;
      }
      begin(waiting);
    }
    long offset = reader.nextOffset();
    try {
      Task task = new Task(owner, offset, reader.next(), share);
      task.logPosition = reading.log();
      return task;
    } catch (RefusedException malformed) {
      reader.giveUp();
      Task task =
          Task.unreadable(
              owner, offset, share, reading.baseOffset(), reading.endOffset(), malformed);
      task.notTheFirst = broken;
      broken = true;
      return task;
    }
  }

  private void begin(WaitingBatch waiting) {
    reading = waiting.placed();
    broken = false;
    share = share(reading);
    reader = reading.batch().reader(reading.baseOffset());
    wantedFrom = waiting.from();
    while (reader.nextOffset() < wantedFrom) {
      try {
        reader.next();
      } catch (RefusedException malformed) {
        reader.giveUp();
      }
    }
  }

  /** Drops everything. */
  void clear() {
    batches.clear();
    reader = null;
    reading = null;
  }
}
