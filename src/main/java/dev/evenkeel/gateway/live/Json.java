package dev.evenkeel.gateway.live;

import dev.evenkeel.api.RecordJson;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Helps to make states from answers. An unknown value is null in an answer and missing in a state.
 */
final class Json {
  private Json() {}

  static void put(Map<String, Object> target, String key, Object value) {
    if (value != null) {
      target.put(key, value);
    }
  }

  /**
   * Copies the known fields of {@code from}. Whole numbers become {@link Long}, so that equal
   * numbers are equal.
   */
  static Map<String, Object> copy(JsonObject from, Map<String, Object> target, String... fields) {
    for (String field : fields) {
      Object value = from.getValue(field);
      put(target, field, value instanceof Integer number ? (Long) number.longValue() : value);
    }
    return target;
  }

  /** The same for components of a record. */
  static Map<String, Object> copy(Record from, Map<String, Object> target, String... fields) {
    for (String field : fields) {
      Object value = RecordJson.value(from, field);
      put(target, field, value instanceof Integer number ? (Long) number.longValue() : value);
    }
    return target;
  }

  /** The known fields of {@code from}. */
  static Map<String, Object> copy(JsonObject from, String... fields) {
    return copy(from, new LinkedHashMap<>(), fields);
  }

  static Map<String, Object> copy(Record from, String... fields) {
    return copy(from, new LinkedHashMap<>(), fields);
  }

  static List<JsonObject> objects(JsonArray array) {
    List<JsonObject> objects = new ArrayList<>();
    for (int i = 0; array != null && i < array.size(); i++) {
      objects.add(array.getJsonObject(i));
    }
    return objects;
  }

  /** Rounds to as many digits as people look at, so that small changes make no patches. */
  static Number rounded(Double value) {
    if (value == null) {
      return null;
    }
    return value >= 100 ? (Number) Math.round(value) : (Number) (Math.round(value * 10) / 10.0);
  }
}
