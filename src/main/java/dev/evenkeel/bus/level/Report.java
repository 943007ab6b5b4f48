package dev.evenkeel.bus.level;

import dev.evenkeel.protocol.wire.ByteReader;
import dev.evenkeel.protocol.wire.Bytes;
import dev.evenkeel.protocol.wire.Codec;
import java.nio.ByteBuffer;
import java.util.List;

/**
 * A report of a member to its level dispatcher: which messages have ended. Each one says
 * everything, so it may be lost, repeated or late. The answer is a {@link StartPermission}; a
 * member has one report under way at a time. It sends one when it receives or ends messages, and at
 * least every second while it has messages in hand.
 *
 * @param instance id of the run of the member
 * @param number grows with each report of the session
 * @param received how many messages of the session it has received without a gap
 * @param endedBelow every message with a lower number has ended
 * @param endedAbove numbers from {@code endedBelow} on that have ended, ascending
 * @param failed the ended messages that failed and that no {@link StartPermission} has confirmed
 *     yet: the dispatcher hands them out again after a pause
 * @param capacity most messages that it wants in hand: its credit with strategy pull. 0: it can
 *     handle none for now, and has none in work. The dispatcher hands all that it has to others and
 *     asks it again after a while
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
   * @param sequence number of the message in the session
   * @param error one line for people
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
    String group = in.neededText();
    String instance = in.neededText();
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
