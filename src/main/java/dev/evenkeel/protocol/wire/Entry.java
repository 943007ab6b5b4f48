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
 * @param body for {@link #APPEND} see {@link AppendBody}; else a command of {@link CommandCodec}
 */
public record Entry(int type, long nowMillis, ByteBuffer body) {
  public static final int HEADER_BYTES = 10;

  /** Batches as they came. */
  public static final int APPEND = 1;

  public static final int DATA_COMMAND = 2;
  public static final int META_COMMAND = 3;

  /**
   * The bytes before the body.
   *
   * @param level that a node needs to read the body
   */
  public static byte[] header(int level, int type, long nowMillis) {
    return begin(level, type, nowMillis).toArray();
  }

  public static byte[] of(DataCommand command, long nowMillis) {
    Bytes out = begin(FeatureLevel.FIRST, DATA_COMMAND, nowMillis);
    CommandCodec.write(out, command);
    byte[] entry = out.toArray();
    entry[0] = (byte) CommandCodec.level(command, entry[HEADER_BYTES]);
    return entry;
  }

  public static byte[] of(MetaCommand command, long nowMillis) {
    Bytes out = begin(FeatureLevel.FIRST, META_COMMAND, nowMillis);
    CommandCodec.write(out, command);
    byte[] entry = out.toArray();
    entry[0] = (byte) CommandCodec.level(command, entry[HEADER_BYTES]);
    return entry;
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
