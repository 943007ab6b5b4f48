package dev.evenkeel.consumer.core;

import dev.evenkeel.bus.FetchAnswer;
import dev.evenkeel.wire.BatchReader;
import java.util.ArrayDeque;

/** Batches of one shard that were fetched and not yet decoded. Messages are decoded one by one. */
final class Backlog {
  /** A batch, with the first of its offsets that is wanted. */
  private record Waiting(FetchAnswer.Placed placed, long from) {}

  private final ArrayDeque<Waiting> batches = new ArrayDeque<>();
  private BatchReader reader;
  private int share;
  private long wantedFrom;

  /** Adds a batch whose checksum is right; messages below {@code from} are passed over. */
  void add(FetchAnswer.Placed placed, long from) {
    batches.add(new Waiting(placed, from));
  }

  /** Bytes that each message of a batch counts for: its fair share of the batch. */
  static int share(FetchAnswer.Placed placed) {
    int count = placed.batch().count();
    return (placed.batch().length() + count - 1) / count;
  }

  /** The offset of the message that {@link #next} decodes, or -1 if there is none at hand. */
  long nextOffset() {
    if (reader != null && reader.hasNext()) {
      return Math.max(wantedFrom, reader.nextOffset());
    }
    Waiting waiting = batches.peek();
    return waiting == null ? -1 : waiting.from();
  }

  /**
   * The next message as a task of {@code hold}, or null.
   *
   * @throws dev.evenkeel.model.RefusedException INVALID if the batch's inside is malformed
   */
  Task next(Hold hold) {
    while (reader == null || !reader.hasNext()) {
      Waiting waiting = batches.poll();
      if (waiting == null) {
        reader = null;
        return null;
      }
      share = share(waiting.placed());
      reader = waiting.placed().batch().reader(waiting.placed().baseOffset());
      wantedFrom = waiting.from();
      while (reader.nextOffset() < wantedFrom) {
        reader.next();
      }
    }
    long offset = reader.nextOffset();
    return new Task(hold, offset, reader.next(), share);
  }

  /** Drops everything, and says how much that was. */
  Hold.Dropped clear() {
    long messages = 0;
    long bytes = 0;
    if (reader != null) {
      messages = reader.endOffset() - Math.max(wantedFrom, reader.nextOffset());
      bytes = messages * share;
    }
    for (Waiting waiting : batches) {
      long wanted = waiting.placed().endOffset() - waiting.from();
      messages += wanted;
      bytes += wanted * share(waiting.placed());
    }
    batches.clear();
    reader = null;
    return new Hold.Dropped(messages, bytes);
  }
}
