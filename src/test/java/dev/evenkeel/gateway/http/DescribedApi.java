package dev.evenkeel.gateway.http;

import io.vertx.core.json.Json;
import io.vertx.core.json.JsonObject;
import java.util.List;
import java.util.Locale;

/** Compares answers of a node with what {@code /openapi.json} says of them. */
public final class DescribedApi {
  private static final JsonObject DOCUMENT = NodeRoutes.OPEN_API;
  private static final JsonSchema SCHEMAS = new JsonSchema(DOCUMENT);

  private DescribedApi() {}

  /**
   * What is wrong with a JSON answer; empty if nothing is, or if the document has no such path.
   *
   * @param path with its query
   */
  public static List<String> problems(String method, String path, int status, String body) {
    String plain = path.replaceAll("\\?.*", "");
    JsonObject paths = DOCUMENT.getJsonObject("paths");
    // The path without parameters fits first, as it does for the routes.
    String template =
        paths.containsKey(plain)
            ? plain
            : paths.fieldNames().stream()
                .filter(each -> plain.matches(each.replaceAll("\\{\\w+\\}", "[^/]+")))
                .findFirst()
                .orElse(null);
    JsonObject operation =
        template == null
            ? null
            : paths.getJsonObject(template).getJsonObject(method.toLowerCase(Locale.ROOT));
    if (operation == null) {
      return List.of();
    }
    JsonObject responses = operation.getJsonObject("responses");
    JsonObject response =
        SCHEMAS.resolved(responses.getJsonObject("" + status, responses.getJsonObject("default")));
    JsonObject media = response.getJsonObject("content").getJsonObject("application/json");
    String place = method + " " + path + " " + status;
    return media == null
        ? List.of(place + " should not be JSON")
        : SCHEMAS.problems(media.getJsonObject("schema"), Json.decodeValue(body), place);
  }
}
