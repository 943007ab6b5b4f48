package dev.evenkeel.protocol.wire;

import static dev.evenkeel.protocol.Refusal.INVALID;

import dev.evenkeel.protocol.MalformedException;
import dev.evenkeel.protocol.Refusal;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;

/**
 * Reads what {@link Bytes} wrote. Every read is checked against what is left, so that a malformed
 * length costs an exception and no memory.
 *
 * <p>All methods throw {@link MalformedException} ({@link Refusal#INVALID}) when the bytes end
 * early.
 */
public final class ByteReader {
  private final ByteBuffer in;

  /** Reads from the buffer's position; the buffer itself is not moved. */
  public ByteReader(ByteBuffer in) {
    this.in = in.slice();
  }

  public ByteReader(byte[] in) {
    this(ByteBuffer.wrap(in));
  }

  public int remaining() {
    return in.remaining();
  }

  public int u8() {
    need(1);
    return in.get() & 0xFF;
  }

  public boolean bool() {
    return u8() != 0;
  }

  public int i32() {
    need(4);
    return in.getInt();
  }

  public long i64() {
    need(8);
    return in.getLong();
  }

  public int varint() {
    int first = u8();
    if (first < 0x80) {
      return first;
    }
    int value = first & 0x7F;
    for (int shift = 7; shift < 35; shift += 7) {
      int next = u8();
      value |= (next & 0x7F) << shift;
      if ((next & 0x80) == 0) {
        return value;
      }
    }
    throw malformed("a number that does not end");
  }

  public long varlong() {
    int first = u8();
    if (first < 0x80) {
      return first >>> 1 ^ -(first & 1);
    }
    long value = first & 0x7F;
    for (int shift = 7; shift < 70; shift += 7) {
      int next = u8();
      value |= (long) (next & 0x7F) << shift;
      if ((next & 0x80) == 0) {
        return value >>> 1 ^ -(value & 1);
      }
    }
    throw malformed("a number that does not end");
  }

  public byte[] raw(int length) {
    need(length);
    byte[] bytes = new byte[length];
    in.get(bytes);
    return bytes;
  }

  /** Reads the next {@code length} bytes as a view. */
  public ByteBuffer slice(int length) {
    need(length);
    ByteBuffer slice = in.slice(in.position(), length);
    in.position(in.position() + length);
    return slice;
  }

  /** A view of all that is left. Does not move the reader. */
  public ByteBuffer rest() {
    return in.slice();
  }

  public byte @Nullable [] blob() {
    int length = i32();
    return length == -1 ? null : raw(length);
  }

  public @Nullable String text() {
    byte[] bytes = blob();
    return bytes == null ? null : new String(bytes, StandardCharsets.UTF_8);
  }

  /** Text that must be there. */
  public String neededText() {
    String text = text();
    if (text == null) {
      throw malformed("a text is missing");
    }
    return text;
  }

  /** A count. At least one byte must follow for each thing counted. */
  public int count() {
    int count = i32();
    if (count < 0 || count > in.remaining()) {
      throw malformed("a count of " + count + " with " + in.remaining() + " bytes left");
    }
    return count;
  }

  public void end() {
    if (in.hasRemaining()) {
      throw malformed(in.remaining() + " bytes too many");
    }
  }

  private void need(int bytes) {
    if (bytes < 0 || in.remaining() < bytes) {
      throw malformed("a length of " + bytes + " with " + in.remaining() + " bytes left");
    }
  }

  private static MalformedException malformed(String what) {
    return new MalformedException(INVALID, "malformed record: " + what);
  }
}
