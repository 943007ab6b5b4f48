package dev.evenkeel.protocol.wire;

import dev.evenkeel.protocol.MalformedException;
import dev.evenkeel.protocol.Message;
import dev.evenkeel.protocol.MessageView;
import java.nio.ByteBuffer;

/**
 * Walks over the messages of a batch by their lengths, and makes no objects for that. A broker
 * checks every batch that it receives in this way, and a reader finds the messages in it.
 */
final class BatchWalk {
  private final byte[] bytes;
  private final int end;
  private int at;

  // Where the last message and its payload lie.

  private int messageAt;
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
   * @throws MalformedException unless there are exactly so many messages
   */
  void overAll(int count) {
    over(count, count);
    if (at != end) {
      throw Batch.malformed((end - at) + " bytes after its " + count + " messages");
    }
  }

  /**
   * Walks over the first {@code some} of {@code count} messages.
   *
   * @throws MalformedException if these bytes are not so many messages
   */
  void over(int some, int count) {
    for (int message = 0; message < some; message++) {
      if (!overOne()) {
        throw Batch.malformed("message " + (message + 1) + " of " + count + " ends early");
      }
    }
  }

  /** Walks over the next message. False: the bytes end before it does. */
  boolean overOne() {
    messageAt = at;
    int key = varint();
    if (key < 0 || !over(Math.max(0, key - 1)) || !overLater()) {
      return false;
    }
    int headers = varint();
    if (headers < 0) {
      return false;
    }
    for (int i = 0; i < headers; i++) {
      if (!over(varint())) { // the name
        return false;
      }
      if (!over(varint())) { // the value
        return false;
      }
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
}
