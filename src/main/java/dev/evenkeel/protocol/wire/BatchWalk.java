package dev.evenkeel.protocol.wire;

import dev.evenkeel.protocol.MalformedException;
import java.nio.ByteBuffer;

/**
 * Checks the messages of a batch by their lengths alone. A broker does this once for every batch
 * that it receives, so it makes no objects. It accepts what {@link BatchReader} can read.
 */
final class BatchWalk {
  private final byte[] bytes;
  private final int end;
  private int at;

  BatchWalk(ByteBuffer batch) {
    if (batch.hasArray()) {
      bytes = batch.array();
      at = batch.arrayOffset();
    } else {
      bytes = new byte[batch.limit()];
      batch.get(0, bytes);
    }
    end = at + batch.limit();
    at += Batch.HEADER_BYTES;
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

  private boolean overOne() {
    int key = varint();
    if (key < 0 || !over(Math.max(0, key - 1)) || !overVarlong()) {
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
    return over(varint());
  }

  /** A number of at most five bytes that is not negative, or -1. */
  private int varint() {
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

  private boolean overVarlong() {
    for (int i = 0; i < 10 && at < end; i++) {
      if (bytes[at++] >= 0) {
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
