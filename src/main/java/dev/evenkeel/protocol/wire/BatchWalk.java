package dev.evenkeel.protocol.wire;

import dev.evenkeel.protocol.Limits;
import dev.evenkeel.protocol.MalformedException;
import dev.evenkeel.protocol.Message;
import dev.evenkeel.protocol.MessageView;
import java.nio.ByteBuffer;

/**
 * Walks over the messages of a batch by their lengths, and makes no objects for that. A broker
 * checks every batch that it receives in this way, and a reader finds the messages in it: both use
 * the same walk, so a reader can read whatever a broker took.
 */
final class BatchWalk {
  private final byte[] bytes;
  private final int end;
  private int at;

  // Where the last message and its payload lie.

  private int messageAt;
  private int keyLength;
  private int headers;
  private long headersLength;
  private int payloadAt;
  private int payloadLength;

  /** How much later it is than the first one of its batch. */
  private long laterMillis;

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
   * @throws MalformedException unless there are exactly so many messages, each within its limits
   */
  void overAll(int count) {
    for (int message = 1; message <= count; message++) {
      over(message, 1, count);
      if (keyLength > Limits.KEY_BYTES_MAX
          || headers > Limits.HEADERS_MAX
          || headersLength > Limits.HEADERS_BYTES_MAX
          || payloadLength > Limits.PAYLOAD_BYTES_MAX) {
        throw Batch.malformed("message " + message + " of " + count + " has " + excess());
      }
    }
    if (at != end) {
      throw Batch.malformed((end - at) + " bytes after its " + count + " messages");
    }
  }

  /** What the last message has too much of. */
  private String excess() {
    if (keyLength > Limits.KEY_BYTES_MAX) {
      return excess("a key", keyLength, Limits.KEY_BYTES_MAX);
    }
    if (headers > Limits.HEADERS_MAX) {
      return headers + " headers: at most " + Limits.HEADERS_MAX + " are allowed";
    }
    return headersLength > Limits.HEADERS_BYTES_MAX
        ? excess("headers", headersLength, Limits.HEADERS_BYTES_MAX)
        : excess("a payload", payloadLength, Limits.PAYLOAD_BYTES_MAX);
  }

  private static String excess(String what, long length, int max) {
    return what + " of " + length + " bytes: at most " + max + " are allowed";
  }

  /**
   * Walks over the first {@code some} of {@code count} messages.
   *
   * @throws MalformedException if these bytes are not so many messages
   */
  void over(int some, int count) {
    over(1, some, count);
  }

  private void over(int first, int some, int count) {
    for (int message = first; message < first + some; message++) {
      if (!overOne()) {
        throw Batch.malformed("message " + message + " of " + count + " ends early");
      }
    }
  }

  /** Walks over the next message. False: the bytes end before it does. */
  boolean overOne() {
    messageAt = at;
    int key = varint();
    keyLength = Math.max(0, key - 1);
    if (key < 0 || !over(keyLength) || !overLater()) {
      return false;
    }
    headers = varint();
    if (headers < 0) {
      return false;
    }
    headersLength = 0;
    for (int i = 0; i < headers; i++) {
      int name = varint();
      if (!over(name)) {
        return false;
      }
      int value = varint();
      if (!over(value)) {
        return false;
      }
      headersLength += (long) name + value;
    }
    payloadLength = varint();
    payloadAt = at;
    return over(payloadLength);
  }

  /** The message over which it has walked last. */
  Message message(long firstTimestampMillis) {
    return new MessageView(
        bytes, messageAt, payloadAt, payloadLength, firstTimestampMillis + laterMillis);
  }

  /** A number of at most five bytes and 31 bits, or -1. */
  private int varint() {
    if (at < end && bytes[at] >= 0) {
      return bytes[at++];
    }
    int value = 0;
    for (int shift = 0; shift < 35 && at < end; shift += 7) {
      int next = bytes[at++];
      value |= (next & 0x7F) << shift;
      if (next >= 0) {
        return shift < 28 || next < 8 ? value : -1;
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
        return shift < 63 || next < 2;
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
}
