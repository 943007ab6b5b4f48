package dev.evenkeel.gateway.access;

import dev.evenkeel.protocol.Refusal;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.json.DecodeException;
import io.vertx.core.json.Json;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;

/**
 * The form in which everything reads a question to {@link ApiAddresses#PRODUCE}. Many messages come
 * as {@code {"topic":T,"messages":[..]}}, or as an array of messages that name their topic.
 */
public final class ProduceQuestion {
  private ProduceQuestion() {}

  /**
   * The question in the body of a request, which may be JSON or its text.
   *
   * @return the body itself, if it is no array
   * @throws dev.evenkeel.protocol.RefusedException INVALID
   */
  public static Object of(Object body) {
    Object json = isArray(body) ? decoded(body) : body;
    return json instanceof JsonArray messages ? object(messages) : body;
  }

  private static boolean isArray(Object body) {
    int at = 0;
    if (body instanceof Buffer bytes) {
      while (at < bytes.length() && bytes.getByte(at) <= ' ' && bytes.getByte(at) > 0) {
        at++;
      }
      return at < bytes.length() && bytes.getByte(at) == '[';
    }
    if (body instanceof String text) {
      while (at < text.length() && text.charAt(at) <= ' ') {
        at++;
      }
      return text.startsWith("[", at);
    }
    return body instanceof JsonArray;
  }

  private static Object decoded(Object body) {
    try {
      return body instanceof JsonArray ? body : Json.decodeValue(body.toString());
    } catch (DecodeException e) {
      throw Refusal.INVALID.error("the request is not JSON");
    }
  }

  private static JsonObject object(JsonArray messages) {
    Object topic = null;
    JsonArray plain = new JsonArray();
    for (int i = 0; i < messages.size(); i++) {
      if (!(messages.getValue(i) instanceof JsonObject message)) {
        throw Refusal.INVALID.error("message %s of the array is not an object", i);
      }
      JsonObject rest = message.copy();
      Object named = rest.remove("topic");
      if (!(named instanceof String) || topic != null && !topic.equals(named)) {
        throw Refusal.INVALID.error(
            "message %s of the array names the topic %s: name the same topic in all messages",
            i, named);
      }
      topic = named;
      plain.add(rest);
    }
    if (topic == null) {
      throw Refusal.INVALID.error("the array has no message");
    }
    return new JsonObject().put("topic", topic).put("messages", plain);
  }
}
