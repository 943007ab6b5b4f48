package dev.evenkeel.bus;

import dev.evenkeel.protocol.MalformedException;
import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.wire.ByteReader;
import dev.evenkeel.protocol.wire.Bytes;
import java.nio.ByteBuffer;

/**
 * What a node has of the body of a log entry; the answer to {@link Op#READ_BODY}.
 *
 * @param have in what condition it is
 * @param appliedIndex last entry that the node had applied when it looked
 * @param term of the entry; 0 unless the body or a part of it is there
 * @param body its bytes, or what is left of them; empty if nothing is
 */
public record BodyAnswer(Have have, long appliedIndex, long term, ByteBuffer body) {
  private static final ByteBuffer NOTHING = ByteBuffer.allocate(0);
  private static final Have[] CONDITIONS = Have.values();

  /** The order is part of the wire format. */
  public enum Have {
    /** The body is there, and its checksum matches. */
    WHOLE,
    /** It is there, and damaged. */
    DAMAGED,
    /** There is no such body, or not any more. */
    MISSING,
    /** Only what the state needed of it is left, undamaged. */
    PART
  }

  /** The answer of a node that does not have the body, or not whole. */
  public static BodyAnswer without(Have have, long appliedIndex) {
    return new BodyAnswer(have, appliedIndex, 0, NOTHING);
  }

  public Bytes encode() {
    byte[] bytes = new byte[body.remaining()];
    body.duplicate().get(bytes);
    return new Bytes(24 + bytes.length)
        .i32(have.ordinal())
        .i64(appliedIndex)
        .i64(term)
        .i32(bytes.length)
        .raw(bytes);
  }

  /**
   * @throws MalformedException if the bytes are malformed
   */
  public static BodyAnswer decode(ByteReader in) {
    int have = in.i32();
    if (have < 0 || have >= CONDITIONS.length) {
      throw new MalformedException(Refusal.INVALID, "a body in the unknown condition " + have);
    }
    BodyAnswer answer = new BodyAnswer(CONDITIONS[have], in.i64(), in.i64(), in.slice(in.count()));
    in.end();
    return answer;
  }
}
