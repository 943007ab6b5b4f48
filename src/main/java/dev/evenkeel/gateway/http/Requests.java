package dev.evenkeel.gateway.http;

import dev.evenkeel.gateway.access.JsonSize;
import dev.evenkeel.protocol.Names;
import io.vertx.core.MultiMap;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.json.DecodeException;
import io.vertx.core.json.Json;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import io.vertx.ext.web.RoutingContext;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;

/** Reads HTTP requests. All methods throw {@link ApiFailure}. */
final class Requests {
  private Requests() {}

  static boolean isJson(RoutingContext context) {
    String type = contentType(context.request());
    return type.equals("application/json") || type.endsWith("+json");
  }

  static boolean isJsonLines(RoutingContext context) {
    String type = contentType(context.request());
    return type.equals("application/x-ndjson") || type.equals("application/jsonl");
  }

  /** The JSON values of a body with one value per line; it skips empty lines. */
  static JsonArray jsonLines(RoutingContext context) {
    return RequestBodies.parsed(context) instanceof JsonArray lines
        ? lines
        : jsonLines(body(context));
  }

  private static JsonArray jsonLines(Buffer body) {
    JsonArray values = new JsonArray();
    int number = 0;
    checkValues(body);
    for (String line : (Iterable<String>) body.toString().lines()::iterator) {
      number++;
      if (!line.isBlank()) {
        try {
          values.add(Json.decodeValue(line));
        } catch (DecodeException e) {
          throw ApiFailure.invalid("line " + number + " is not JSON");
        }
      }
    }
    if (values.isEmpty()) {
      throw ApiFailure.invalid("the body has no lines: send one message per line");
    }
    return values;
  }

  /** Parses a body by its type, whatever thread it is called from; null: it is not JSON. */
  static Callable<Object> parser(RoutingContext context, Buffer body) {
    if (isJsonLines(context)) {
      return () -> jsonLines(body);
    }
    return isJson(context) ? () -> json(body) : null;
  }

  /** The media type without its parameters, lower case; empty if there is none. */
  static String contentType(HttpServerRequest request) {
    String header = request.getHeader("content-type");
    if (header == null) {
      return "";
    }
    int end = header.indexOf(';');
    return (end < 0 ? header : header.substring(0, end)).trim().toLowerCase(Locale.ROOT);
  }

  static JsonObject object(RoutingContext context) {
    if (!isJson(context)) {
      throw new ApiFailure(415, "send content-type: application/json");
    }
    if (json(context) instanceof JsonObject object) {
      return object;
    }
    throw ApiFailure.invalid("the body must be a JSON object");
  }

  /** The question for an action, with the fields of the body. */
  static JsonObject question(RoutingContext context, String action) {
    JsonObject body = object(context);
    if (body.containsKey("action")) {
      throw ApiFailure.invalid("unknown field 'action': the path names the action");
    }
    return body.copy().put("action", action);
  }

  /** Adds a parameter of the path. The body may repeat it, but not differ from it. */
  static JsonObject ofPath(JsonObject body, String field, String said) {
    Object given = body.getValue(field);
    if (given != null && !given.equals(said)) {
      throw ApiFailure.invalid(
          "the field '"
              + field
              + "' is '"
              + given
              + "', and the path says '"
              + said
              + "': leave the field out, or correct one of them");
    }
    return body.put(field, said);
  }

  static Object json(RoutingContext context) {
    Object parsed = RequestBodies.parsed(context);
    return parsed == null ? json(body(context)) : parsed;
  }

  private static Object json(Buffer body) {
    if (body.length() == 0) {
      throw ApiFailure.invalid("the body is empty: send JSON");
    }
    checkValues(body);
    try {
      return Json.decodeValue(body);
    } catch (DecodeException e) {
      String message = String.valueOf(e.getMessage());
      int end = message.indexOf('\n');
      throw ApiFailure.invalid(
          "the body is not JSON: "
              + (end < 0 ? message : message.substring(0, end))
                  // Remove the position in a text that the parser does not show, and its methods.
                  .replaceFirst(" *\\(start marker.*| *at \\[Source.*", "")
                  .replaceAll(", from `[^`]*`", ""));
    }
  }

  private static void checkValues(Buffer body) {
    if (JsonSize.hasTooManyValues(body)) {
      throw new ApiFailure(413, "the body has more than " + JsonSize.VALUES_MAX + " JSON values");
    }
  }

  static Buffer body(RoutingContext context) {
    return RequestBodies.of(context);
  }

  /** The parameters of the query; refuses those that are not known. */
  static MultiMap query(RoutingContext context, String... known) {
    Names.requireKnown("query parameter", context.queryParams().names(), List.of(known));
    return context.queryParams();
  }
}
