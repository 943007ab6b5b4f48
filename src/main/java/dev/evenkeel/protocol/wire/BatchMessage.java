package dev.evenkeel.protocol.wire;

import dev.evenkeel.protocol.Message;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.Collections;
import java.util.Map;

/**
 * A message as a view of the bytes of its batch, until it is detached from them. Key, headers and
 * payload become objects of their own when they are first asked for, and then stay.
 *
 * <p>Threads share it without locks. Two that ask at the same time may get two equal objects. What
 * one thread stores is complete when another one sees it: see the fences.
 */
final class BatchMessage extends Message {
  /** Null once the message is detached. Then the three below are there, if the message has them. */
  private byte[] bytes;

  private byte[] key;
  private Map<String, byte[]> headers;
  private byte[] payload;

  private final int keyAt;

  /** -1: there is no key. */
  private final int keyLength;

  private final int headersAt;
  private final int headerCount;
  private final int payloadAt;
  private final int payloadLength;

  /** The message over which {@code walk} has just walked. */
  BatchMessage(BatchWalk walk, long timestampMillis) {
    super(timestampMillis);
    bytes = walk.bytes;
    keyAt = walk.keyAt;
    keyLength = walk.keyLength;
    headersAt = walk.headersAt;
    headerCount = walk.headerCount;
    payloadAt = walk.payloadAt;
    payloadLength = walk.payloadLength;
  }

  @Override
  public boolean hasKey() {
    return keyLength >= 0;
  }

  @Override
  public byte[] key() {
    byte[] known = key;
    if (known != null || keyLength < 0) {
      return known;
    }
    byte[] from = bytes;
    if (from == null) {
      VarHandle.loadLoadFence();
      return key;
    }
    known = Arrays.copyOfRange(from, keyAt, keyAt + keyLength);
    VarHandle.storeStoreFence();
    key = known;
    return known;
  }

  @Override
  public Map<String, byte[]> headers() {
    Map<String, byte[]> known = headers;
    if (known != null) {
      return known;
    }
    if (headerCount == 0) {
      return Map.of();
    }
    byte[] from = bytes;
    if (from == null) {
      VarHandle.loadLoadFence();
      return headers;
    }
    known = Collections.unmodifiableMap(BatchWalk.headers(from, headersAt, headerCount));
    VarHandle.storeStoreFence();
    headers = known;
    return known;
  }

  @Override
  public byte[] payload() {
    byte[] known = payload;
    if (known != null) {
      return known;
    }
    byte[] from = bytes;
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
