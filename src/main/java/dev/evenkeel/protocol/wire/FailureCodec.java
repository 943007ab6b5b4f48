package dev.evenkeel.protocol.wire;

import dev.evenkeel.protocol.DeadLetter;
import dev.evenkeel.protocol.MalformedException;
import dev.evenkeel.protocol.Message;
import dev.evenkeel.protocol.Outcome;
import dev.evenkeel.protocol.Refusal;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;

/** Bytes of outcomes and of dead letters. */
public final class FailureCodec {
  private static final int FAILED = 1;
  private static final int PARKED = 2;
  private static final int SETTLED = 3;

  private FailureCodec() {}

  public static void writeOutcomes(Bytes out, List<Outcome> outcomes) {
    out.i32(outcomes.size());
    for (Outcome outcome : outcomes) {
      if (outcome instanceof Outcome.Failed o) {
        out.u8(FAILED).i64(o.offset()).i32(o.attempt()).u8(o.way().ordinal());
        out.i64(o.delayMillis()).i64(o.lane()).text(o.error()).blob(o.copy());
      } else if (outcome instanceof Outcome.Parked o) {
        out.u8(PARKED).i64(o.offset()).i64(o.lane()).blob(o.copy());
      } else {
        out.u8(SETTLED).i64(outcome.offset());
      }
    }
  }

  public static List<Outcome> outcomes(ByteReader in) {
    int count = in.count();
    List<Outcome> outcomes = new ArrayList<>(count);
    for (int i = 0; i < count; i++) {
      outcomes.add(outcome(in));
    }
    return List.copyOf(outcomes);
  }

  /**
   * Reads the copies of the messages, as those who get them later must.
   *
   * @throws MalformedException if one cannot be read
   */
  public static void checkCopies(List<Outcome> outcomes) {
    for (Outcome outcome : outcomes) {
      byte[] copy =
          outcome instanceof Outcome.Failed failed
              ? failed.copy()
              : outcome instanceof Outcome.Parked parked ? parked.copy() : null;
      if (copy != null) {
        Message message = MessageCodec.decode(copy);
        if (message.payload() == null
            || message.headers().values().stream().anyMatch(Objects::isNull)) {
          throw new MalformedException(
              Refusal.INVALID, "the copy of message " + outcome.offset() + " lacks a part");
        }
      }
    }
  }

  private static Outcome outcome(ByteReader in) {
    int tag = in.u8();
    return switch (tag) {
      case FAILED ->
          new Outcome.Failed(
              in.i64(),
              in.i32(),
              RecordCodec.constant(Outcome.Way.values(), in.u8()),
              in.i64(),
              in.i64(),
              in.text(),
              in.blob());
      case PARKED -> new Outcome.Parked(in.i64(), in.i64(), in.blob());
      case SETTLED -> new Outcome.Settled(in.i64());
      default -> throw new MalformedException(Refusal.WRONG_VERSION, "unknown outcome " + tag);
    };
  }

  public static void write(Bytes out, DeadLetter letter) {
    RecordCodec.write(out, letter.shard());
    out.i64(letter.offset()).i32(letter.attempts()).text(letter.error());
    out.i64(letter.firstFailedMillis()).i64(letter.lastFailedMillis()).blob(letter.copy());
  }

  public static DeadLetter deadLetter(ByteReader in) {
    return new DeadLetter(
        RecordCodec.shard(in), in.i64(), in.i32(), in.text(), in.i64(), in.i64(), in.blob());
  }
}
