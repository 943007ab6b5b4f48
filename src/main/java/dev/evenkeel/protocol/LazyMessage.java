package dev.evenkeel.protocol;

import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A message as a view of the bytes of its batch, until it is detached from them. Key, headers and
 * payload become objects of their own when they are first asked for, and then stay. Readers of
 * batches make views; {@code BatchBuilder} describes the bytes.
 *
 * <p>Threads share it without locks. Two that ask at the same time may get two equal objects. What
 * one thread stores is complete when another one sees it: see the fences.
 */
public final class LazyMessage extends Message {
  /** Null once the message is detached. Then it has all its parts. */
  private byte @Nullable [] bytes;

  private final int at;
  private final int payloadAt;
  private final int payloadLength;

  /**
   * @param bytes of the batch; somebody has checked the lengths in them
   * @param at where the message begins
   */
  public LazyMessage(byte[] bytes, int at, int payloadAt, int payloadLength, long timestampMillis) {
    super(timestampMillis);
    this.bytes = bytes;
    this.at = at;
    this.payloadAt = payloadAt;
    this.payloadLength = payloadLength;
  }

  /** Reads numbers of a batch, of which it knows that they are complete. */
  private static final class Cursor {
    final byte[] bytes;
    int at;

    Cursor(byte[] bytes, int at) {
      this.bytes = bytes;
      this.at = at;
    }

    int varint() {
      int value = 0;
      for (int shift = 0; ; shift += 7) {
        int next = bytes[at++];
        value |= (next & 0x7F) << shift;
        if (next >= 0) {
          return value;
        }
      }
    }

    void skipNumber() {
      while (bytes[at++] < 0) {
        // The next byte belongs to it, too.
      }
    }

    byte[] take(int length) {
      at += length;
      return Arrays.copyOfRange(bytes, at - length, at);
    }
  }

  @Override
  public boolean hasKey() {
    byte[] from = bytes;
    if (from == null) {
      VarHandle.loadLoadFence();
      return key != null;
    }
    return from[at] != 0 && new Cursor(from, at).varint() != 0;
  }

  @Override
  public byte @Nullable [] key() {
    byte[] known = key;
    byte[] from = bytes;
    if (known != null) {
      return known;
    }
    if (from == null) {
      VarHandle.loadLoadFence();
      return key;
    }
    Cursor cursor = new Cursor(from, at);
    int length = cursor.varint() - 1;
    if (length < 0) {
      return null;
    }
    known = cursor.take(length);
    VarHandle.storeStoreFence();
    key = known;
    return known;
  }

  @Override
  public Map<String, byte[]> headers() {
    Map<String, byte[]> known = headers;
    byte[] from = bytes;
    if (known != null) {
      return known;
    }
    if (from == null) {
      VarHandle.loadLoadFence();
      return headers;
    }
    known = readHeaders(from);
    VarHandle.storeStoreFence();
    headers = known;
    return known;
  }

  private Map<String, byte[]> readHeaders(byte[] from) {
    Cursor cursor = new Cursor(from, at);
    int keyLength = cursor.varint() - 1;
    cursor.at += Math.max(0, keyLength);
    cursor.skipNumber();
    int count = cursor.varint();
    if (count == 0) {
      return Map.of();
    }
    Map<String, byte[]> read = new LinkedHashMap<>();
    for (int i = 0; i < count; i++) {
      String name = new String(cursor.take(cursor.varint()), StandardCharsets.UTF_8);
      read.put(name, cursor.take(cursor.varint()));
    }
    return Collections.unmodifiableMap(read);
  }

  @Override
  public byte[] payload() {
    byte[] known = payload;
    byte[] from = bytes;
    if (known != null) {
      return known;
    }
    if (from == null) {
      VarHandle.loadLoadFence();
      return payload;
    }
    known = Arrays.copyOfRange(from, payloadAt, payloadAt + payloadLength);
    VarHandle.storeStoreFence();
    payload = known;
    return known;
  }

  @Override
  public int payloadLength() {
    return payloadLength;
  }

  @Override
  public ByteBuffer payloadBuffer() {
    byte[] from = bytes;
    return from == null
        ? ByteBuffer.wrap(payload()).asReadOnlyBuffer()
        : ByteBuffer.wrap(from, payloadAt, payloadLength).slice().asReadOnlyBuffer();
  }

  @Override
  public Message detach() {
    if (bytes != null) {
      key();
      headers();
      payload();
      VarHandle.storeStoreFence();
      bytes = null;
    }
    return this;
  }
}
