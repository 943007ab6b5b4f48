package dev.evenkeel.protocol.wire;

import dev.evenkeel.protocol.LazyMessage;
import dev.evenkeel.protocol.Limits;
import dev.evenkeel.protocol.MalformedException;
import dev.evenkeel.protocol.Message;
import dev.evenkeel.protocol.MessageFilter;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Walks over the messages of a batch by their lengths, and makes no objects for that. A broker
 * checks every batch that it receives in this way, and a reader finds the messages in it: both use
 * the same walk, so a reader can read whatever a broker took.
 */
public final class BatchWalk {
  private final byte[] bytes;
  private final int end;
  private int at;

  // Where the last message and its payload lie.

  private int messageAt;
  private int keyAt;
  private int keyLength;
  private boolean hasKey;
  private int headersAt;
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
  public boolean overOne() {
    messageAt = at;
    int key = varint();
    hasKey = key > 0;
    keyAt = at;
    keyLength = Math.max(0, key - 1);
    if (key < 0 || !over(keyLength) || !overLater()) {
      return false;
    }
    headers = varint();
    if (headers < 0) {
      return false;
    }
    headersAt = at;
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

  /** Where the message over which it has walked last begins in {@link #bytes}. */
  public int messageFrom() {
    return messageAt;
  }

  /** Where that message ends. */
  public int messageTo() {
    return payloadAt + payloadLength;
  }

  /** The memory that it walks over. */
  public byte[] bytes() {
    return bytes;
  }

  /** Whether a filter takes the message over which it has walked last. */
  public boolean isTakenBy(MessageFilter filter) {
    List<MessageFilter.Field> fields = filter.fields();
    for (int i = 0; i < fields.size(); i++) {
      MessageFilter.Field field = fields.get(i);
      long found = find(field.header());
      if (found < 0 || !field.matches(bytes, from(found), to(found))) {
        return false;
      }
    }
    return true;
  }

  /**
   * Finds the key or a header of the message over which it has walked last. Of two headers with the
   * same name, the last one counts.
   *
   * @param header its name as UTF-8; null: the key
   * @return for {@link #from} and {@link #to}; -1: the message has none
   */
  public long find(byte @Nullable [] header) {
    if (header == null) {
      return hasKey ? span(keyAt, keyLength) : -1;
    }
    int behind = at;
    at = headersAt;
    long found = -1;
    for (int i = 0; i < headers; i++) {
      int name = varint();
      boolean same = name == header.length && Arrays.equals(bytes, at, at + name, header, 0, name);
      at += name;
      int value = varint();
      found = same ? span(at, value) : found;
      at += value;
    }
    at = behind;
    return found;
  }

  /** How many headers the message has over which it has walked last. */
  public int headers() {
    return headers;
  }

  /** Where the first of them begins. */
  public int headersFrom() {
    return headersAt;
  }

  /** The name of the header that begins there, for {@link #from} and {@link #to}. */
  public long headerName(int headerAt) {
    int behind = at;
    at = headerAt;
    int name = varint();
    final long found = span(at, name);
    at = behind;
    return found;
  }

  /** Where the header ends that begins there. */
  public int headerEnd(int headerAt) {
    int behind = at;
    at = headerAt;
    int name = varint();
    at += name;
    int value = varint();
    final int end = at + value;
    at = behind;
    return end;
  }

  private static long span(int from, int length) {
    return (long) from << 32 | length;
  }

  /** Where the bytes that {@link #find} has found begin. */
  public static int from(long found) {
    return (int) (found >>> 32);
  }

  /** Where they end. */
  public static int to(long found) {
    return from(found) + (int) found;
  }

  /** The message over which it has walked last. */
  Message message(long firstTimestampMillis) {
    return new LazyMessage(
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
