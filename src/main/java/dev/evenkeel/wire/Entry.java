package dev.evenkeel.wire;

import dev.evenkeel.model.DataCommand;
import dev.evenkeel.model.MetaCommand;
import dev.evenkeel.model.Refusal;
import dev.evenkeel.model.RefusedException;
import java.nio.ByteBuffer;

/**
 * One entry of a log group: {@code u8 version, u8 type, i64 now, body}. {@code now} is the leader's
 * clock when it took the entry, in milliseconds since 1970; applying reads no other clock.
 *
 * @param body for {@link #APPEND} see {@link AppendBody}; else a command of {@link CommandCodec}
 */
public record Entry(int type, long nowMillis, ByteBuffer body) {
  public static final int VERSION = 1;
  public static final int HEADER_BYTES = 10;

  /** Batches as they came. */
  public static final int APPEND = 1;

  public static final int DATA_COMMAND = 2;
  public static final int META_COMMAND = 3;

  public static byte[] header(int type, long nowMillis) {
    return new Bytes(HEADER_BYTES).u8(VERSION).u8(type).i64(nowMillis).toArray();
  }

  public static byte[] of(DataCommand command, long nowMillis) {
    Bytes out = new Bytes().u8(VERSION).u8(DATA_COMMAND).i64(nowMillis);
    CommandCodec.write(out, command);
    return out.toArray();
  }

  public static byte[] of(MetaCommand command, long nowMillis) {
    Bytes out = new Bytes().u8(VERSION).u8(META_COMMAND).i64(nowMillis);
    CommandCodec.write(out, command);
    return out.toArray();
  }

  /**
   * @throws RefusedException INVALID or WRONG_VERSION
   */
  public static Entry read(ByteBuffer bytes) {
    ByteReader in = new ByteReader(bytes);
    int version = in.u8();
    if (version != VERSION) {
      throw new RefusedException(
          Refusal.WRONG_VERSION,
          "log entry of version " + version + ": this node reads " + VERSION);
    }
    int type = in.u8();
    long now = in.i64();
    return new Entry(type, now, in.slice(in.remaining()));
  }
}
