package dev.evenkeel.gateway.http;

import io.vertx.core.json.Json;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import io.vertx.json.schema.Draft;
import io.vertx.json.schema.JsonSchema;
import io.vertx.json.schema.JsonSchemaOptions;
import io.vertx.json.schema.OutputFormat;
import io.vertx.json.schema.OutputUnit;
import io.vertx.json.schema.Validator;
import java.util.List;
import java.util.Locale;

/** Compares answers of a node with what {@code /openapi.json} says of them. */
public final class DescribedApi {
  static final JsonObject DOCUMENT = NodeRoutes.OPEN_API;

  private static final JsonSchemaOptions OPTIONS =
      new JsonSchemaOptions()
          .setBaseUri("https://evenkeel.example/")
          .setDraft(Draft.DRAFT202012)
          .setOutputFormat(OutputFormat.Basic);

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
        resolved(responses.getJsonObject("" + status, responses.getJsonObject("default")));
    JsonObject media = response.getJsonObject("content").getJsonObject("application/json");
    return media == null
        ? List.of(method + " " + path + " " + status + " should not be JSON")
        : problems(DOCUMENT, media.getJsonObject("schema"), Json.decodeValue(body));
  }

  /** A response, or the one to which it refers. */
  static JsonObject resolved(JsonObject response) {
    String reference = response.getString("$ref");
    return reference == null
        ? response
        : DOCUMENT
            .getJsonObject("components")
            .getJsonObject("responses")
            .getJsonObject(reference.substring(reference.lastIndexOf('/') + 1));
  }

  /** What is wrong with a value, if schemas have no other properties than they name. */
  static List<String> problems(JsonObject document, JsonObject schema, Object value) {
    JsonObject named = document.getJsonObject("components").getJsonObject("schemas").copy();
    named.fieldNames().forEach(each -> close(named.getJsonObject(each)));
    JsonObject whole = schema.copy().put("components", new JsonObject().put("schemas", named));
    OutputUnit found = Validator.create(JsonSchema.of(whole), OPTIONS).validate(value);
    return found.getValid()
        ? List.of()
        : found.getErrors().stream()
            .map(each -> each.getInstanceLocation() + ": " + each.getError())
            .toList();
  }

  private static void close(Object schema) {
    if (schema instanceof JsonArray several) {
      several.forEach(DescribedApi::close);
    } else if (schema instanceof JsonObject object) {
      object.forEach(each -> close(each.getValue()));
      if (object.getValue("properties") instanceof JsonObject
          && !object.containsKey("additionalProperties")) {
        object.put("additionalProperties", false);
      }
    }
  }
}
