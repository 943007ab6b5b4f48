package dev.evenkeel.api;

import io.vertx.core.json.Json;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.util.ArrayList;
import java.util.List;

/**
 * JSON as pages show it: an example of an answer, in which {@code ...} stands for more fields or
 * items. An answer fits if it has the same fields with values of the same types, and if each item
 * of a list fits one of the items that are shown.
 */
public final class ShownJson {
  private static final String MORE = "...";

  private ShownJson() {}

  /** How an answer differs from what a page shows; empty: it fits. */
  public static List<String> differences(String shown, Object answer) {
    String json =
        shown
            .replaceAll("([{,])\\.\\.\\.}", "$1\"...\":0}")
            .replaceAll("([\\[,])\\.\\.\\.]", "$1\"...\"]");
    List<String> differences = new ArrayList<>();
    compare("", Json.decodeValue(json), answer, differences);
    return differences;
  }

  private static void compare(String at, Object shown, Object answer, List<String> differences) {
    if (!type(shown).equals(type(answer))) {
      differences.add("%s is %s, not %s: %s".formatted(at, type(answer), type(shown), answer));
    } else if (shown instanceof JsonObject object) {
      compareFields(at, object, (JsonObject) answer, differences);
    } else if (shown instanceof JsonArray array) {
      compareItems(at, array, (JsonArray) answer, differences);
    }
  }

  private static void compareFields(
      String at, JsonObject shown, JsonObject answer, List<String> differences) {
    for (String field : shown.fieldNames()) {
      if (answer.containsKey(field)) {
        compare(at + "." + field, shown.getValue(field), answer.getValue(field), differences);
      } else if (!field.equals(MORE)) {
        differences.add(at + "." + field + " is missing");
      }
    }
    for (String field : answer.fieldNames()) {
      if (!shown.containsKey(field) && !shown.containsKey(MORE)) {
        differences.add(at + "." + field + " is not shown");
      }
    }
  }

  private static void compareItems(
      String at, JsonArray shown, JsonArray answer, List<String> differences) {
    List<Object> items = shown.stream().filter(each -> !MORE.equals(each)).toList();
    if (items.isEmpty() ? shown.isEmpty() && !answer.isEmpty() : answer.isEmpty()) {
      differences.add("%s has %d items, not %d".formatted(at, answer.size(), items.size()));
    }
    for (int i = 0; i < answer.size() && !items.isEmpty(); i++) {
      List<String> least = null;
      for (Object item : items) {
        List<String> found = new ArrayList<>();
        compare(at + "[" + i + "]", item, answer.getValue(i), found);
        least = least == null || found.size() < least.size() ? found : least;
      }
      differences.addAll(least);
    }
  }

  private static String type(Object value) {
    return value == null
        ? "null"
        : value instanceof JsonObject
            ? "an object"
            : value instanceof JsonArray
                ? "an array"
                : value instanceof Number
                    ? "a number"
                    : value instanceof Boolean ? "a boolean" : "a string";
  }
}
