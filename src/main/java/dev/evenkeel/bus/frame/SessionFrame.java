package dev.evenkeel.bus.frame;

import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.RefusedException;
import io.vertx.core.buffer.Buffer;
import java.nio.charset.StandardCharsets;

/**
 * One frame of a connection at the client port, see {@link FrameKind}.
 *
 * @param correlation ties an answer to its request; 0 where there is none
 */
public record SessionFrame(FrameKind kind, int correlation, Buffer body) {
  /** Bytes of a frame in front of its body. */
  public static final int HEAD_BYTES = 10;

  public static final int VERSION = 1;

  /** Longest address, in bytes. */
  public static final int ADDRESS_BYTES_MAX = 400;

  /** The address at the beginning of a REQUEST, LISTEN, UNLISTEN or PUSH. */
  public String address() {
    return body.getString(2, 2 + addressBytes(), StandardCharsets.UTF_8.name());
  }

  /** The timeout of a REQUEST, in milliseconds. */
  public long timeoutMillis() {
    need(2 + addressBytes() + 4);
    return body.getUnsignedInt(2 + addressBytes());
  }

  /** What a REQUEST carries for its address; it shares the bytes of the frame. */
  public Buffer requestBody() {
    return from(2 + addressBytes() + 4);
  }

  /** What a PUSH carries; it shares the bytes of the frame. */
  public Buffer pushBody() {
    return from(2 + addressBytes());
  }

  /** The refusal of a REFUSAL. */
  public RefusedException refused() {
    need(1);
    return RefusedException.received(Refusal.ofCode(body.getUnsignedByte(0)), text(1));
  }

  /** The reason of a GOODBYE. */
  public String reason() {
    return text(0);
  }

  private String text(int from) {
    return body.getString(from, body.length(), StandardCharsets.UTF_8.name());
  }

  private Buffer from(int begin) {
    need(begin);
    return body.slice(begin, body.length());
  }

  private int addressBytes() {
    need(2);
    int length = body.getUnsignedShort(0);
    if (length > ADDRESS_BYTES_MAX) {
      throw Refusal.INVALID.error(
          "an address of %s bytes: at most %s are allowed", length, ADDRESS_BYTES_MAX);
    }
    need(2 + length);
    return length;
  }

  private void need(int bytes) {
    if (body.length() < bytes) {
      throw Refusal.INVALID.error(
          "a %s frame with a body of %s bytes ends too early", kind, body.length());
    }
  }

  /** The beginning of a REQUEST's body. */
  public static Buffer requestHead(String address, long timeoutMillis) {
    return addressed(address).appendUnsignedInt(Math.max(0, Math.min(timeoutMillis, 0xFFFFFFFFL)));
  }

  /** The body of a LISTEN or UNLISTEN, and the beginning of that of a PUSH. */
  public static Buffer addressed(String address) {
    byte[] bytes = address.getBytes(StandardCharsets.UTF_8);
    return Buffer.buffer(bytes.length + 6).appendUnsignedShort(bytes.length).appendBytes(bytes);
  }

  /** The body of a REFUSAL. */
  public static Buffer refusal(Refusal refusal, String detail) {
    return Buffer.buffer()
        .appendUnsignedByte((short) refusal.ordinal())
        .appendString(detail == null ? "" : detail);
  }
}
