package dev.evenkeel.protocol.wire;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;

/**
 * Messages whose next attempt is due.
 *
 * @param nextInMillis when another message, not among these and not in hand, is due: 0 now, -1 none
 *     is
 * @param due each lane's in its order: those behind the first may follow it
 * @param known what a new owner must know, or null if it was not asked for
 */
public record RetryAnswer(long nextInMillis, List<Retry> due, Known known) {
  /**
   * A message to be tried.
   *
   * @param attempts that have failed
   * @param copy of the message, as {@code wire.MessageCodec} writes it
   */
  public record Retry(long offset, int attempts, long lane, byte[] copy) {}

  /** A message that waits in the owner's window. */
  public record Held(long offset, int attempts, long dueInMillis) {}

  /** A lane: how many messages of it were moved, and the lowest offset of them. */
  public record Lane(long lane, int messages, long firstOffset) {}

  /**
   * What a new owner must know.
   *
   * @param marks offsets that have left the window
   * @param lanes those with messages that were moved
   */
  public record Known(List<Long> marks, List<Held> held, List<Lane> lanes) {
    public static final Known NOTHING = new Known(List.of(), List.of(), List.of());
  }

  public Bytes encode() {
    Bytes out = new Bytes(256).i64(nextInMillis).i32(due.size());
    for (Retry each : due) {
      out.i64(each.offset()).i32(each.attempts()).i64(each.lane()).blob(each.copy());
    }
    out.bool(known != null);
    if (known != null) {
      RecordCodec.writeNumbers(out, known.marks());
      out.i32(known.held().size());
      known.held().forEach(h -> out.i64(h.offset()).i32(h.attempts()).i64(h.dueInMillis()));
      out.i32(known.lanes().size());
      known.lanes().forEach(l -> out.i64(l.lane()).i32(l.messages()).i64(l.firstOffset()));
    }
    return out;
  }

  public static RetryAnswer decode(ByteBuffer body) {
    ByteReader in = new ByteReader(body);
    long next = in.i64();
    int count = in.count();
    List<Retry> due = new ArrayList<>(count);
    for (int i = 0; i < count; i++) {
      due.add(new Retry(in.i64(), in.i32(), in.i64(), in.blob()));
    }
    Known known = in.bool() ? known(in) : null;
    in.end();
    return new RetryAnswer(next, due, known);
  }

  private static Known known(ByteReader in) {
    List<Long> marks = RecordCodec.numbers(in);
    int count = in.count();
    List<Held> held = new ArrayList<>(count);
    for (int i = 0; i < count; i++) {
      held.add(new Held(in.i64(), in.i32(), in.i64()));
    }
    count = in.count();
    List<Lane> lanes = new ArrayList<>(count);
    for (int i = 0; i < count; i++) {
      lanes.add(new Lane(in.i64(), in.i32(), in.i64()));
    }
    return new Known(marks, held, lanes);
  }
}
