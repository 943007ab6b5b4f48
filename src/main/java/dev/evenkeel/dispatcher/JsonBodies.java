package dev.evenkeel.dispatcher;

import dev.evenkeel.api.RecordJson;
import dev.evenkeel.bus.Frames;
import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.RefusedException;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.json.DecodeException;
import io.vertx.core.json.JsonObject;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;

/** Reads and writes JSON in event-bus bodies. */
final class JsonBodies {
  private JsonBodies() {}

  /**
   * The JSON object of a body: text in a {@link Buffer}, or an object as such.
   *
   * @throws RefusedException INVALID if it is none
   */
  static JsonObject json(Object body) {
    try {
      if (body instanceof Buffer buffer) {
        return new JsonObject(buffer);
      }
      if (body instanceof JsonObject json) {
        return json;
      }
      if (body instanceof String text) {
        return new JsonObject(text);
      }
    } catch (DecodeException | ClassCastException e) {
      throw Refusal.INVALID.error("the body is not a JSON object");
    }
    throw Refusal.INVALID.error("the body must be a JSON object");
  }

  /** The JSON object of an answer: as a frame, or as plain text. */
  static JsonObject answeredJson(Buffer answer) {
    boolean plain = answer.length() > 0 && answer.getByte(0) == '{';
    if (plain) {
      return json(answer);
    }
    ByteBuffer body = Frames.answerBody(answer);
    return json(StandardCharsets.UTF_8.decode(body).toString());
  }

  static Buffer answer(Record record) {
    return answer(RecordJson.json(record));
  }

  static Buffer answer(JsonObject json) {
    return Frames.answer(json.toBuffer().getBytes());
  }
}
