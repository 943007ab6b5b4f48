package dev.evenkeel.gateway.http;

import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * Compares values with the schemas of an OpenAPI document, as far as the document of the HTTP API
 * uses JSON Schema. It refuses properties that a schema does not name, as Redocly does.
 */
final class JsonSchema {
  private final JsonObject document;

  JsonSchema(JsonObject document) {
    this.document = document;
  }

  /** The value at the end of a reference; null if it leads nowhere. */
  Object resolve(String reference) {
    Object at = document;
    for (String step : reference.substring(2).split("/")) {
      at = at instanceof JsonObject object ? object.getValue(step) : null;
    }
    return at;
  }

  /** The object itself, or what it refers to. */
  JsonObject resolved(JsonObject object) {
    return object.containsKey("$ref") ? (JsonObject) resolve(object.getString("$ref")) : object;
  }

  /** What is wrong with a value, each with its place; empty if nothing is. */
  List<String> problems(JsonObject schema, Object value, String place) {
    List<String> problems = new ArrayList<>();
    check(resolved(schema), value, place, problems);
    return problems;
  }

  private boolean fits(JsonObject schema, Object value) {
    return problems(schema, value, "").isEmpty();
  }

  private void check(JsonObject schema, Object value, String place, List<String> problems) {
    if (schema.containsKey("type") && !types(schema).stream().anyMatch(type -> is(type, value))) {
      problems.add(place + ": " + value + " is not of type " + types(schema));
      return;
    }
    if (schema.containsKey("const") && !schema.getValue("const").equals(value)) {
      problems.add(place + ": " + value + " is not " + schema.getValue("const"));
    }
    if (schema.containsKey("enum") && !schema.getJsonArray("enum").contains(value)) {
      problems.add(place + ": " + value + " is none of " + schema.getJsonArray("enum"));
    }
    if (schema.containsKey("oneOf")) {
      long fitting =
          schema.getJsonArray("oneOf").stream()
              .filter(each -> fits((JsonObject) each, value))
              .count();
      if (fitting != 1) {
        problems.add(place + ": " + value + " fits " + fitting + " schemas of oneOf");
      }
    }
    if (schema.containsKey("if")) {
      String next = fits(schema.getJsonObject("if"), value) ? "then" : "else";
      check(resolved(schema.getJsonObject(next)), value, place, problems);
    }
    if (value instanceof Number number) {
      checkBounds(schema, number, place, problems);
    } else if (value instanceof String text) {
      if (text.length() > schema.getInteger("maxLength", Integer.MAX_VALUE)) {
        problems.add(place + " is too long");
      }
    } else if (value instanceof JsonArray array) {
      if (array.size() > schema.getInteger("maxItems", Integer.MAX_VALUE)) {
        problems.add(place + " has too many items");
      }
      for (int i = 0; i < array.size() && schema.containsKey("items"); i++) {
        JsonObject items = resolved(schema.getJsonObject("items"));
        check(items, array.getValue(i), place + "/" + i, problems);
      }
    } else if (value instanceof JsonObject object && schema.containsKey("properties")) {
      checkProperties(schema, object, place, problems);
    } else if (value instanceof JsonObject object
        && schema.getValue("additionalProperties") instanceof JsonObject each) {
      object.forEach(
          entry -> check(resolved(each), value(entry), place + "/" + entry.getKey(), problems));
    }
  }

  private static void checkBounds(
      JsonObject schema, Number number, String place, List<String> problems) {
    BigDecimal value = new BigDecimal(number.toString());
    Number least = schema.getNumber("minimum");
    Number most = schema.getNumber("maximum");
    if (least != null && value.compareTo(new BigDecimal(least.toString())) < 0
        || most != null && value.compareTo(new BigDecimal(most.toString())) > 0) {
      problems.add(place + ": " + number + " is out of bounds");
    }
  }

  private void checkProperties(
      JsonObject schema, JsonObject object, String place, List<String> problems) {
    JsonObject properties = schema.getJsonObject("properties");
    for (Object name : schema.getJsonArray("required", new JsonArray())) {
      if (!object.containsKey((String) name)) {
        problems.add(place + " lacks " + name);
      }
    }
    if (object.size() < schema.getInteger("minProperties", 0)) {
      problems.add(place + " has too few properties");
    }
    for (Map.Entry<String, Object> entry : object) {
      JsonObject property = properties.getJsonObject(entry.getKey());
      if (property == null) {
        problems.add(place + " has the unknown property " + entry.getKey());
      } else {
        check(resolved(property), value(entry), place + "/" + entry.getKey(), problems);
      }
    }
  }

  /** In the form in which the accessors of {@link JsonObject} give it. */
  private static Object value(Map.Entry<String, Object> entry) {
    return new JsonArray().add(entry.getValue()).getValue(0);
  }

  static List<String> types(JsonObject schema) {
    return schema.getValue("type") instanceof JsonArray several
        ? several.stream().map(String::valueOf).toList()
        : List.of(schema.getString("type"));
  }

  static boolean is(String type, Object value) {
    return switch (type) {
      case "null" -> value == null;
      case "string" -> value instanceof String;
      case "boolean" -> value instanceof Boolean;
      case "integer" -> value instanceof Integer || value instanceof Long;
      case "number" -> value instanceof Number;
      case "array" -> value instanceof JsonArray;
      case "object" -> value instanceof JsonObject;
      default -> throw new IllegalArgumentException("type " + type);
    };
  }
}
