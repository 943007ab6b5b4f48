package dev.evenkeel.storage;

import java.nio.ByteBuffer;

/** Two direct buffers of the writing thread, grown as needed and used again for every change. */
final class DirectScratch {
  private static final int KEY_BYTES = 1 << 10;
  private static final int VALUE_BYTES = 64 << 10;

  private ByteBuffer key = ByteBuffer.allocateDirect(KEY_BYTES);
  private ByteBuffer value = ByteBuffer.allocateDirect(VALUE_BYTES);

  ByteBuffer key(byte[] bytes) {
    key = room(key, bytes.length);
    return key.put(bytes).flip();
  }

  /** The bytes between position and limit as a direct buffer; {@code bytes} stays as it was. */
  ByteBuffer value(ByteBuffer bytes) {
    if (bytes.isDirect()) {
      return bytes.duplicate();
    }
    value = room(value, bytes.remaining());
    return value.put(bytes.duplicate()).flip();
  }

  private static ByteBuffer room(ByteBuffer buffer, int bytes) {
    if (buffer.capacity() >= bytes) {
      return buffer.clear();
    }
    return ByteBuffer.allocateDirect(Math.max(bytes, 2 * buffer.capacity()));
  }
}
