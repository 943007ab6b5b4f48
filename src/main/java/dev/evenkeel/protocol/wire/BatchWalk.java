package dev.evenkeel.protocol.wire;

import dev.evenkeel.protocol.MalformedException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * Walks over the messages of a batch by their lengths, without making objects. A broker checks
 * every batch that it receives in this way, and a reader finds the parts of each message in it.
 */
final class BatchWalk {
  final byte[] bytes;
  private final int end;
  private int at;

  // Where the parts of the last message lie in the bytes.

  int keyAt;

  /** -1: there is no key. */
  int keyLength;

  /** How much later the message is than the first one of its batch. */
  long laterMillis;

  int headersAt;
  int headerCount;
  int payloadAt;
  int payloadLength;

  /**
   * Walks over what begins at index {@code from} of a buffer and ends at its limit. The bytes are
   * copied unless they lie in an array.
   */
  BatchWalk(ByteBuffer in, int from) {
    if (in.hasArray()) {
      bytes = in.array();
      at = in.arrayOffset() + from;
      end = in.arrayOffset() + in.limit();
    } else {
      bytes = new byte[in.limit() - from];
      in.get(from, bytes);
      end = bytes.length;
    }
  }

  /**
   * @throws MalformedException unless there are exactly so many messages
   */
  void overAll(int count) {
    over(count, count);
    if (at != end) {
      throw Batch.malformed((end - at) + " bytes after its " + count + " messages");
    }
  }

  /**
   * Walks over the first {@code some} of {@code count} messages. Returns how many bytes are left.
   *
   * @throws MalformedException if these bytes are not so many messages
   */
  int over(int some, int count) {
    for (int message = 0; message < some; message++) {
      if (!overOne()) {
        throw Batch.malformed("message " + (message + 1) + " of " + count + " ends early");
      }
    }
    return end - at;
  }

  /** Walks over the next message. False: the bytes end before it does. */
  boolean overOne() {
    int key = varint();
    keyAt = at;
    keyLength = key - 1;
    if (key < 0 || !over(Math.max(0, keyLength)) || !overLater()) {
      return false;
    }
    headerCount = varint();
    headersAt = at;
    for (int i = 0; i < headerCount; i++) {
      if (!over(varint())) { // the name
        return false;
      }
      if (!over(varint())) { // the value
        return false;
      }
    }
    payloadLength = varint();
    payloadAt = at;
    return headerCount >= 0 && over(payloadLength);
  }

  /** A number of at most five bytes that is not negative, or -1. */
  private int varint() {
    if (at < end && bytes[at] >= 0) {
      return bytes[at++];
    }
    int value = 0;
    for (int shift = 0; shift < 35 && at < end; shift += 7) {
      int next = bytes[at++];
      value |= (next & 0x7F) << shift;
      if (next >= 0) {
        return Math.max(-1, value);
      }
    }
    return -1;
  }

  private boolean overLater() {
    long value = 0;
    for (int shift = 0; shift < 70 && at < end; shift += 7) {
      int next = bytes[at++];
      value |= (long) (next & 0x7F) << shift;
      if (next >= 0) {
        laterMillis = value >>> 1 ^ -(value & 1);
        return true;
      }
    }
    return false;
  }

  private boolean over(int length) {
    if (length < 0 || length > end - at) {
      return false;
    }
    at += length;
    return true;
  }

  /** The headers of a message over which a walk has walked. */
  static Map<String, byte[]> headers(byte[] bytes, int headersAt, int count) {
    BatchWalk walk = new BatchWalk(ByteBuffer.wrap(bytes), headersAt);
    Map<String, byte[]> headers = new LinkedHashMap<>();
    for (int i = 0; i < count; i++) {
      int name = walk.varint();
      String text = new String(bytes, walk.at, name, StandardCharsets.UTF_8);
      walk.at += name;
      int value = walk.varint();
      headers.put(text, Arrays.copyOfRange(bytes, walk.at, walk.at + value));
      walk.at += value;
    }
    return headers;
  }
}
