package dev.evenkeel.openapi;

import dev.evenkeel.api.ErrorView;
import dev.evenkeel.api.Heading;
import dev.evenkeel.api.LiveChange;
import dev.evenkeel.api.LiveSnapshot;
import dev.evenkeel.api.NotEmpty;
import dev.evenkeel.api.Operation;
import dev.evenkeel.api.Operations;
import dev.evenkeel.api.Position;
import dev.evenkeel.api.SendResult;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/**
 * Makes the OpenAPI document of {@link Operations}. The build runs it; the classes of this package
 * are in no jar.
 */
public final class OpenApiDocument {
  static final String JSON = "application/json";

  /** Schemas that only bodies of {@link #special} operations name. */
  private static final List<Class<? extends Record>> OTHERS =
      List.of(
          ErrorView.class, LiveChange.class, LiveSnapshot.class, Position.class, SendResult.class);

  private final JsonObject special;
  private final Schemas schemas = new Schemas();

  /**
   * @param special {@code document} is what the document says beside the operations; the rest is
   *     merged into the operations with these ids, as their bodies are not JSON, or have several
   *     forms; null removes something
   */
  OpenApiDocument(JsonObject special) {
    this.special = special;
  }

  /**
   * Writes the document.
   *
   * @param args the file with what is special, and the file to write
   */
  public static void main(String[] args) throws IOException {
    Path to = Path.of(args[1]);
    Files.createDirectories(to.getParent());
    JsonObject special = new JsonObject(Files.readString(Path.of(args[0])));
    Files.writeString(to, new OpenApiDocument(special).make().encodePrettily());
  }

  JsonObject make() {
    JsonObject paths = new JsonObject();
    for (Operation<?, ?> each : Operations.all()) {
      if (each.method() == null) {
        continue;
      }
      if (!paths.containsKey(each.path())) {
        paths.put(each.path(), new JsonObject());
      }
      JsonObject operation = operation(each);
      merge(operation, special.getJsonObject(operation.getString("operationId")));
      paths
          .getJsonObject(each.path())
          .put(each.method().name().toLowerCase(Locale.ROOT), operation);
    }
    OTHERS.forEach(schemas::refer);
    JsonObject named = new JsonObject();
    schemas.named().forEach(named::put);
    named
        .getJsonObject(Schemas.name(ErrorView.class))
        .getJsonObject("properties")
        .getJsonObject("error")
        .put("x-extensible-enum", new JsonArray(List.copyOf(ErrorResponse.words())));
    JsonObject document = special.getJsonObject("document").copy();
    JsonObject components = (JsonObject) document.remove("components");
    JsonArray security = new JsonArray();
    components
        .getJsonObject("securitySchemes")
        .fieldNames()
        .forEach(each -> security.add(new JsonObject().put(each, new JsonArray())));
    JsonArray tags = new JsonArray();
    for (Heading each : Heading.values()) {
      tags.add(new JsonObject().put("name", each.word()).put("description", each.text()));
    }
    document
        // Any of the schemes, or none.
        .put("security", security.add(new JsonObject()))
        .put("tags", tags)
        .put("paths", paths)
        .put(
            "components",
            components
                .put("responses", ErrorResponse.all(schemas.refer(ErrorView.class)))
                .put("schemas", named));
    removeUnused(document, named);
    return document;
  }

  private static void removeUnused(JsonObject document, JsonObject schemas) {
    String text = document.encode();
    schemas.fieldNames().removeIf(each -> !text.contains("\"" + Schemas.reference(each) + "\""));
  }

  /** Merges a patch as RFC 7396 says. */
  private static void merge(JsonObject into, JsonObject patch) {
    if (patch == null) {
      return;
    }
    for (Map.Entry<String, Object> each : patch) {
      if (each.getValue() == null) {
        into.remove(each.getKey());
      } else if (each.getValue() instanceof JsonObject inner
          && into.getValue(each.getKey()) instanceof JsonObject outer) {
        merge(outer, inner);
      } else {
        into.put(each.getKey(), each.getValue());
      }
    }
  }

  private JsonObject operation(Operation<?, ?> of) {
    Class<? extends Record> question = of.questionType();
    String text = Docs.of(question);
    String description = (Docs.rest(text) + " " + needs(of)).strip();
    JsonObject json =
        new JsonObject()
            .put("tags", new JsonArray().add(of.heading().word()))
            .put("operationId", decapitalised(question.getSimpleName()))
            .put("summary", Docs.first(text));
    if (!description.isEmpty()) {
      json.put("description", description);
    }
    if (of.isOpen()) {
      json.put("security", new JsonArray());
    }
    JsonObject schema = schemas.ofQuestion(question);
    JsonObject properties = schema.getJsonObject("properties", new JsonObject());
    JsonArray parameters = new JsonArray();
    for (String each : of.parameters()) {
      Class<? extends Record> parts = of.parts(of.field(each));
      parameters.add(
          parts == null
              ? parameter("path", of.field(each), schema).put("name", each)
              : parameter("path", each, schemas.ofQuestion(parts)));
    }
    List<String> ofPath = of.parameters().stream().map(of::field).toList();
    ofPath.forEach(properties::remove);
    if (!of.hasBody()) {
      of.queryParameters().forEach(each -> parameters.add(parameter("query", each, schema)));
    }
    if (!parameters.isEmpty()) {
      json.put("parameters", parameters);
    }
    if (of.hasBody()) {
      json.put("requestBody", body(of, schema, ofPath));
    }
    return json.put("responses", responses(of));
  }

  private static String needs(Operation<?, ?> of) {
    String needed = of.isOpen() ? "no user" : of.needed();
    return needed == null ? "" : "Needs " + needed + ".";
  }

  private static String decapitalised(String name) {
    return Character.toLowerCase(name.charAt(0)) + name.substring(1);
  }

  private static JsonObject parameter(String in, String name, JsonObject question) {
    JsonObject schema = question.getJsonObject("properties").getJsonObject(name).copy();
    JsonObject parameter = new JsonObject().put("name", name).put("in", in);
    boolean needed = question.getJsonArray("required", new JsonArray()).contains(name);
    if (needed) {
      parameter.put("required", true);
    }
    return described(parameter, schema);
  }

  /** What is in a request or in headers may be missing; it is never null. */
  private static JsonObject described(JsonObject of, JsonObject schema) {
    if (schema.getValue("type") instanceof JsonArray types) {
      schema.put("type", types.getString(0));
    }
    Object description = schema.remove("description");
    return of.put("description", description).put("schema", schema);
  }

  private <Q extends Record> JsonObject body(
      Operation<Q, ?> of, JsonObject question, List<String> ofPath) {
    JsonObject schema = question.copy();
    JsonArray required = schema.getJsonArray("required", new JsonArray());
    ofPath.forEach(required::remove);
    if (required.isEmpty()) {
      schema.remove("required");
    }
    if (of.questionType().isAnnotationPresent(NotEmpty.class)) {
      schema.put("minProperties", 1);
    }
    JsonObject content =
        new JsonObject().put("schema", schemas.refer(Schemas.name(of.questionType()), schema));
    JsonObject example = of.ask(of.questionExample());
    example.remove(Operation.ACTION);
    ofPath.forEach(example::remove);
    new ArrayList<>(example.fieldNames())
        .stream().filter(each -> example.getValue(each) == null).forEach(example::remove);
    content.put("example", example);
    return new JsonObject()
        .put("required", of.isBodyNeeded())
        .put("content", new JsonObject().put(JSON, content));
  }

  private JsonObject responses(Operation<?, ?> of) {
    JsonObject done = new JsonObject().put("description", Docs.first(Docs.of(of.answerType())));
    if (!of.headers().isEmpty()) {
      done.put("headers", headers(of));
    }
    if (of.hasEvents()) {
      StringBuilder example = new StringBuilder();
      ((JsonArray) example(of)).forEach(each -> example.append(of.event((JsonObject) each)));
      JsonObject schema = new JsonObject().put("type", "string");
      done.put("content", content("text/event-stream", schema, example.toString()));
    } else if (of.status() != 204) {
      done.put("content", content(JSON, answer(of), example(of)));
    }
    JsonObject responses = new JsonObject().put(String.valueOf(of.status()), done);
    ErrorResponse.of(of).forEach(responses::put);
    return responses;
  }

  private static JsonObject content(String type, JsonObject schema, Object example) {
    JsonObject content = new JsonObject().put("schema", schema).put("example", example);
    return new JsonObject().put(type, content);
  }

  private JsonObject answer(Operation<?, ?> of) {
    if (of.oftenOnly() != null) {
      return property(of, of.oftenOnly());
    }
    JsonObject schema = schemas.refer(of.answerType());
    return of.isListed() ? new JsonObject().put("type", "array").put("items", schema) : schema;
  }

  private JsonObject headers(Operation<?, ?> of) {
    JsonObject headers = new JsonObject();
    of.headers()
        .forEach(
            (name, field) -> headers.put(name, described(new JsonObject(), property(of, field))));
    return headers;
  }

  /** The schema of a field of the answer. */
  private JsonObject property(Operation<?, ?> of, String field) {
    return schemas.of(of.answerType()).getJsonObject("properties").getJsonObject(field);
  }

  @SuppressWarnings("unchecked")
  private static <A> Object example(Operation<?, A> of) {
    return of.writeAnswer(of.answerExample());
  }
}
