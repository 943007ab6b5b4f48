package dev.evenkeel.bus.level;

import dev.evenkeel.protocol.wire.ByteReader;
import dev.evenkeel.protocol.wire.Bytes;
import dev.evenkeel.protocol.wire.Codec;
import java.nio.ByteBuffer;
import java.util.List;

/**
 * Member to dealer: what has ended. Each says everything, so that it may be lost, or come twice or
 * late. Answered by {@link Permission}; one report of a member is on its way at a time. Sent when
 * something ended or was received, and at least every second while anything is in hand.
 *
 * @param instance the run of the member
 * @param number grows with each report of the session
 * @param received messages of the session that it has got, without a gap
 * @param endedBelow every message numbered below has ended
 * @param endedAbove numbers from {@code endedBelow} on that have ended, ascending
 * @param failed those of the ended that failed and of which no {@link Permission} was heard yet, by
 *     their numbers: the dealer deals them again after a pause
 * @param capacity messages that it wants in hand at most, 1 or more: its credit with strategy pull
 */
public record Report(
    String group,
    String instance,
    long term,
    long session,
    long number,
    long received,
    long endedBelow,
    long[] endedAbove,
    List<Failed> failed,
    int capacity) {

  /**
   * @param error for people, in one line
   */
  public record Failed(long sequence, String error) {}

  private static final Codec<List<Failed>> FAILED =
      Codec.list(Codec.record(Failed.class, Codec.I64, Codec.TEXT));

  public Bytes encode() {
    Bytes out =
        new Bytes(128)
            .text(group)
            .text(instance)
            .i64(term)
            .i64(session)
            .i64(number)
            .i64(received)
            .i64(endedBelow)
            .i32(endedAbove.length);
    long last = endedBelow;
    for (long each : endedAbove) {
      out.varlong(each - last);
      last = each;
    }
    FAILED.write(out, failed);
    return out.i32(capacity);
  }

  public static Report decode(ByteBuffer body) {
    ByteReader in = new ByteReader(body);
    String group = in.text();
    String instance = in.text();
    long term = in.i64();
    long session = in.i64();
    long number = in.i64();
    long received = in.i64();
    long below = in.i64();
    long[] above = new long[in.count()];
    long last = below;
    for (int i = 0; i < above.length; i++) {
      last += in.varlong();
      above[i] = last;
    }
    List<Failed> failed = FAILED.read(in);
    int capacity = in.i32();
    in.end();
    return new Report(
        group, instance, term, session, number, received, below, above, failed, capacity);
  }
}
