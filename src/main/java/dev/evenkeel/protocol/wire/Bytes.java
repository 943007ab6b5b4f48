package dev.evenkeel.protocol.wire;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/** A growing byte array with big-endian writes: what control records are encoded with. */
public final class Bytes {
  private byte[] array;
  private int size;

  public Bytes() {
    this(128);
  }

  public Bytes(int capacity) {
    array = new byte[Math.max(16, capacity)];
  }

  public int size() {
    return size;
  }

  public void reset() {
    size = 0;
  }

  public Bytes u8(int value) {
    room(1);
    array[size++] = (byte) value;
    return this;
  }

  public Bytes bool(boolean value) {
    return u8(value ? 1 : 0);
  }

  public Bytes i32(int value) {
    room(4);
    ByteBuffer.wrap(array).putInt(size, value);
    size += 4;
    return this;
  }

  public Bytes i64(long value) {
    room(8);
    ByteBuffer.wrap(array).putLong(size, value);
    size += 8;
    return this;
  }

  /** Unsigned LEB128, at most 5 bytes. */
  public Bytes varint(int value) {
    room(5);
    int rest = value;
    while ((rest & ~0x7F) != 0) {
      array[size++] = (byte) (rest & 0x7F | 0x80);
      rest >>>= 7;
    }
    array[size++] = (byte) rest;
    return this;
  }

  /** Zigzag LEB128, at most 10 bytes. */
  public Bytes varlong(long value) {
    room(10);
    long rest = value << 1 ^ value >> 63;
    while ((rest & ~0x7FL) != 0) {
      array[size++] = (byte) (rest & 0x7F | 0x80);
      rest >>>= 7;
    }
    array[size++] = (byte) rest;
    return this;
  }

  public Bytes raw(byte[] bytes) {
    return raw(bytes, 0, bytes.length);
  }

  public Bytes raw(byte[] bytes, int offset, int length) {
    room(length);
    System.arraycopy(bytes, offset, array, size, length);
    size += length;
    return this;
  }

  /** Length and bytes; null is its own value. */
  public Bytes blob(byte @Nullable [] bytes) {
    if (bytes == null) {
      return i32(-1);
    }
    return i32(bytes.length).raw(bytes);
  }

  /** Length and UTF-8; null is its own value. */
  public Bytes text(@Nullable String text) {
    return blob(text == null ? null : text.getBytes(StandardCharsets.UTF_8));
  }

  /** Overwrites four bytes written before. */
  public void setI32(int at, int value) {
    ByteBuffer.wrap(array).putInt(at, value);
  }

  public byte[] toArray() {
    return Arrays.copyOf(array, size);
  }

  /** A view of what was written; valid until the next write. */
  public ByteBuffer view() {
    return ByteBuffer.wrap(array, 0, size).slice();
  }

  private void room(int more) {
    if (array.length - size < more) {
      int wanted = Math.addExact(size, more);
      array = Arrays.copyOf(array, (int) Math.max(wanted, Math.min(2L * array.length, 1 << 30)));
    }
  }
}
