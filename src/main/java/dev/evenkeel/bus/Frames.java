package dev.evenkeel.bus;

import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.RefusedException;
import dev.evenkeel.protocol.wire.ByteReader;
import dev.evenkeel.protocol.wire.Bytes;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.internal.buffer.BufferInternal;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;

/**
 * Makes and reads the frames of requests and answers between programs of Evenkeel.
 *
 * <pre>
 * request  u8 version (1), u8 operation, body
 * answer   u8 version (1), u8 0, body
 *          u8 version (1), u8 1 + refusal, UTF-8 detail
 * </pre>
 */
public final class Frames {
  public static final int VERSION = 1;
  public static final int HEADER_BYTES = 2;

  /** Header of a request that came over a session: the session's id. */
  public static final String SESSION = "session";

  /** Header of a request that came over a connection of a session: what tells it from others. */
  public static final String CONNECTION = "connection";

  /** Header of a request that a user's program has sent: the name of the user. */
  public static final String USER = "user";

  /**
   * Header of a request that a user's program has sent: names and patterns of the topics that the
   * user may consume, separated by commas.
   */
  public static final String MAY_CONSUME = "mayConsume";

  /** Header of a request on behalf of a span: the span as W3C Trace Context writes it. */
  public static final String TRACEPARENT = "traceparent";

  /**
   * Header of a request for messages of a session of HTTP: a name, by which the request can be
   * abandoned.
   */
  public static final String POLL = "poll";

  private Frames() {}

  public static Buffer request(Op op, Bytes body) {
    return frame(op.ordinal(), body.view());
  }

  public static Buffer answer(ByteBuffer body) {
    return frame(0, body);
  }

  public static Buffer answer(byte[] body) {
    return frame(0, ByteBuffer.wrap(body));
  }

  public static Buffer refusal(Refusal refusal, String detail) {
    String text = detail == null ? "" : detail;
    return frame(1 + refusal.ordinal(), ByteBuffer.wrap(text.getBytes(StandardCharsets.UTF_8)));
  }

  /** The refusal of a failure; a failure that is no refusal becomes UNAVAILABLE, and is logged. */
  public static Buffer refusal(Throwable failure) {
    return failure instanceof RefusedException refused
        ? refusal(refused.refusal(), refused.getMessage())
        : refusal(Refusal.UNAVAILABLE, UnexpectedErrors.report(failure));
  }

  private static Buffer frame(int code, ByteBuffer body) {
    Buffer buffer = Buffer.buffer(HEADER_BYTES + body.remaining());
    buffer.appendByte((byte) VERSION).appendByte((byte) code);
    if (body.hasArray()) {
      buffer.appendBytes(body.array(), body.arrayOffset() + body.position(), body.remaining());
    } else {
      byte[] copy = new byte[body.remaining()];
      body.duplicate().get(copy);
      buffer.appendBytes(copy);
    }
    return buffer;
  }

  /**
   * The operation of a request.
   *
   * @throws RefusedException INVALID or WRONG_VERSION
   */
  public static Op op(Buffer request) {
    checkVersion(request);
    int code = request.getUnsignedByte(1);
    Op op = Op.ofCode(code);
    if (op == null) {
      throw new RefusedException(Refusal.WRONG_VERSION, "unknown operation " + code);
    }
    return op;
  }

  /** The body of a request, not copied. */
  public static ByteBuffer body(Buffer request) {
    return view(request).slice(HEADER_BYTES, request.length() - HEADER_BYTES);
  }

  /** The bytes of a body that is no frame, not copied. */
  public static ByteBuffer bytes(Buffer body) {
    return view(body);
  }

  /**
   * The body of an answer, not copied.
   *
   * @throws RefusedException if it is a refusal
   */
  public static ByteBuffer answerBody(Buffer answer) {
    checkVersion(answer);
    int status = answer.getUnsignedByte(1);
    if (status != 0) {
      throw RefusedException.received(
          Refusal.ofCode(status - 1),
          answer.getString(HEADER_BYTES, answer.length(), StandardCharsets.UTF_8.name()));
    }
    return body(answer);
  }

  /** A copy of a body, for JSON text. */
  public static Buffer copy(ByteBuffer body) {
    byte[] bytes = new byte[body.remaining()];
    body.get(bytes);
    return Buffer.buffer(bytes);
  }

  public static ByteReader answerReader(Buffer answer) {
    return new ByteReader(answerBody(answer));
  }

  private static void checkVersion(Buffer frame) {
    if (frame == null || frame.length() < HEADER_BYTES) {
      throw new RefusedException(Refusal.INVALID, "truncated frame");
    }
    if (frame.getByte(0) != VERSION) {
      throw new RefusedException(
          Refusal.WRONG_VERSION,
          "frame of version " + frame.getByte(0) + ": this program speaks " + VERSION);
    }
  }

  private static ByteBuffer view(Buffer buffer) {
    return ((BufferInternal) buffer).getByteBuf().nioBuffer();
  }
}
