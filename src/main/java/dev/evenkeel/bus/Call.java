package dev.evenkeel.bus;

import dev.evenkeel.protocol.RefusedException;
import dev.evenkeel.protocol.wire.ByteReader;
import dev.evenkeel.protocol.wire.Bytes;
import dev.evenkeel.protocol.wire.Codec;
import io.vertx.core.buffer.Buffer;
import java.nio.ByteBuffer;

/**
 * An operation with the types of its question and its answer, and their bytes. {@link Calls} has
 * all of them.
 *
 * @param <Q> the question; {@code Void}: there is none
 */
public record Call<Q, A>(Op op, Codec<Q> question, Codec<A> answer) {
  /** The frame of a request. */
  public Buffer request(Q asked) {
    Bytes body = new Bytes();
    question.write(body, asked);
    return Frames.request(op, body);
  }

  /**
   * The question of a request.
   *
   * @throws RefusedException INVALID if it is malformed
   */
  public Q asked(Buffer request) {
    return question.decodeAll(Frames.body(request));
  }

  /** The frame of an answer. */
  public Buffer answer(A given) {
    Bytes body = new Bytes();
    answer.write(body, given);
    return Frames.answer(body.view());
  }

  /**
   * Reads an answer. Later versions may add to its end.
   *
   * @throws RefusedException if it is a refusal
   */
  public A answered(Buffer frame) {
    return answered(Frames.answerBody(frame));
  }

  /** Reads the body of an answer. */
  public A answered(ByteBuffer body) {
    return answer.read(new ByteReader(body));
  }
}
