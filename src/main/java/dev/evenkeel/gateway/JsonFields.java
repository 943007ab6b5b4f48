package dev.evenkeel.gateway;

import dev.evenkeel.protocol.Nearest;
import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.RefusedException;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.json.DecodeException;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.util.List;

/** Reads the fields of a request from an untrusted program. All methods refuse with INVALID. */
final class JsonFields {
  private JsonFields() {}

  /** The JSON object that an event-bus body holds, as an object or as its text. */
  static JsonObject object(Object body) {
    try {
      if (body instanceof JsonObject json) {
        return json;
      }
      if (body instanceof Buffer text) {
        return new JsonObject(text);
      }
      if (body instanceof String text) {
        return new JsonObject(text);
      }
    } catch (DecodeException e) {
      throw invalid("the body is not JSON: " + firstLine(e.getMessage()));
    } catch (ClassCastException e) {
      throw invalid("the body is JSON, but not an object");
    }
    throw invalid("send a JSON object, or its text as a string or buffer");
  }

  static void onlyFields(JsonObject json, List<String> known) {
    for (String field : json.fieldNames()) {
      if (!known.contains(field)) {
        throw invalid(Nearest.unknown("field", field, known));
      }
    }
  }

  static String text(JsonObject json, String field) {
    return typed(json, field, String.class, "a string");
  }

  /** The value of a field, which may be missing or null. */
  private static <T> T typed(JsonObject json, String field, Class<T> type, String right) {
    Object value = json.getValue(field);
    if (value == null || type.isInstance(value)) {
      return type.cast(value);
    }
    throw wrong(field, value, right);
  }

  static String neededText(JsonObject json, String field) {
    String value = text(json, field);
    if (value == null) {
      throw invalid("the field '" + field + "' is missing");
    }
    return value;
  }

  static long number(JsonObject json, String field, long absent, long min, long max) {
    Object value = json.getValue(field);
    if (value == null) {
      return absent;
    }
    boolean whole = value instanceof Integer || value instanceof Long;
    if (!whole || ((Number) value).longValue() < min || ((Number) value).longValue() > max) {
      throw wrong(field, value, "a whole number from " + min + " to " + max);
    }
    return ((Number) value).longValue();
  }

  static boolean flag(JsonObject json, String field) {
    return Boolean.TRUE.equals(typed(json, field, Boolean.class, "true or false"));
  }

  static JsonObject objectField(JsonObject json, String field) {
    return typed(json, field, JsonObject.class, "an object");
  }

  static JsonArray arrayField(JsonObject json, String field) {
    return typed(json, field, JsonArray.class, "an array");
  }

  static RefusedException invalid(String detail) {
    return new RefusedException(Refusal.INVALID, detail);
  }

  private static RefusedException wrong(String field, Object value, String right) {
    String shown = value instanceof String ? "'" + value + "'" : String.valueOf(value);
    return invalid(
        "the field '"
            + field
            + "' is "
            + (shown.length() > 60 ? shown.substring(0, 60) + "…" : shown)
            + ": it must be "
            + right);
  }

  private static String firstLine(String text) {
    int end = text == null ? -1 : text.indexOf('\n');
    return end < 0 ? text : text.substring(0, end);
  }
}
