package dev.evenkeel.protocol.wire;

import static dev.evenkeel.protocol.Refusal.INVALID;

import dev.evenkeel.protocol.DataCommand;
import dev.evenkeel.protocol.MetaCommand;
import dev.evenkeel.protocol.RefusedException;
import java.nio.ByteBuffer;

/**
 * One entry of a log group: {@code u8 level, u8 type, i64 now, body}. {@code level} is the {@link
 * FeatureLevel} that a node needs to read it. {@code now} is the leader's clock when it took the
 * entry, in milliseconds since 1970; applying reads no other clock.
 *
 * @param body for {@link #APPEND} see {@link AppendHead}; else a command of {@link CommandCodec}
 */
public record Entry(int type, long nowMillis, ByteBuffer body) {
  public static final int HEADER_BYTES = 10;

  /** Batches: the heads of them, see {@link AppendHead}. They themselves are the entry's body. */
  public static final int APPEND = 1;

  public static final int DATA_COMMAND = 2;
  public static final int META_COMMAND = 3;

  /**
   * The beginning of an entry that appends batches: {@link AppendHead} writes the rest of it.
   *
   * @param level that a node needs to read the batches
   */
  public static Bytes appending(int level, long nowMillis) {
    return begin(level, APPEND, nowMillis);
  }

  public static byte[] of(DataCommand command, long nowMillis) {
    Bytes out = begin(CommandCodec.level(command), DATA_COMMAND, nowMillis);
    CommandCodec.write(out, command);
    return out.toArray();
  }

  public static byte[] of(MetaCommand command, long nowMillis) {
    Bytes out = begin(CommandCodec.level(command), META_COMMAND, nowMillis);
    CommandCodec.write(out, command);
    return out.toArray();
  }

  private static Bytes begin(int level, int type, long nowMillis) {
    return new Bytes().u8(level).u8(type).i64(nowMillis);
  }

  /**
   * The level that a node needs to read the entry. Ask before {@link #read}: all that follows may
   * have another form at a later level.
   *
   * @throws RefusedException INVALID
   */
  public static int level(ByteBuffer bytes) {
    int level = new ByteReader(bytes).u8();
    if (level < FeatureLevel.FIRST) {
      throw INVALID.error("log entry of feature level " + level);
    }
    return level;
  }

  /**
   * Reads an entry of a level that this node knows.
   *
   * @throws RefusedException INVALID
   */
  public static Entry read(ByteBuffer bytes) {
    ByteReader in = new ByteReader(bytes);
    in.u8();
    int type = in.u8();
    long now = in.i64();
    return new Entry(type, now, in.slice(in.remaining()));
  }
}
