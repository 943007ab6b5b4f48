package dev.evenkeel.openapi;

import dev.evenkeel.api.HttpStatus;
import dev.evenkeel.api.Operation;
import dev.evenkeel.protocol.Refusal;
import io.vertx.core.json.JsonObject;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.TreeMap;

/** The errors that an operation may answer with, by their status. */
final class Errors {
  /** Name of the response of each status. */
  private static final Map<Integer, String> NAMES =
      Map.of(
          400, "Invalid",
          401, "Unauthenticated",
          403, "Forbidden",
          404, "Unknown",
          408, "RequestTimeout",
          409, "Conflict",
          413, "TooLarge",
          415, "UnsupportedMediaType",
          429, "Overloaded",
          503, "Unavailable");

  private Errors() {}

  static Map<String, JsonObject> of(Operation<?, ?> operation) {
    Map<Integer, String> found = new TreeMap<>();
    for (int each : new int[] {400, 401, 403, 503}) {
      found.put(each, NAMES.get(each));
    }
    found.put(421, "Misdirected");
    if (operation.hasBody()) {
      for (int each : new int[] {408, 413, 415}) {
        found.put(each, NAMES.get(each));
      }
    }
    for (Refusal each : operation.refusals()) {
      found.put(HttpStatus.of(each), NAMES.get(HttpStatus.of(each)));
    }
    Map<String, JsonObject> errors = new LinkedHashMap<>();
    found.forEach((status, name) -> errors.put(String.valueOf(status), refer(name)));
    errors.put("default", refer("Other"));
    return errors;
  }

  private static JsonObject refer(String name) {
    return new JsonObject().put("$ref", "#/components/responses/" + name);
  }
}
