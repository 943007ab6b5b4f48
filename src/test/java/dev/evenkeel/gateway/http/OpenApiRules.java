package dev.evenkeel.gateway.http;

import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.BiConsumer;
import java.util.function.BiPredicate;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * The rules of Redocly's ruleset {@code recommended} for OpenAPI 3.1, by their names, as far as
 * they can concern the document of the HTTP API. {@code npx @redocly/cli lint} checks the same.
 */
final class OpenApiRules {
  private static final List<String> METHODS =
      List.of("get", "put", "post", "delete", "options", "head", "patch", "trace");
  private static final List<String> OPERATION_KEYS =
      List.of(
          "tags",
          "summary",
          "description",
          "operationId",
          "parameters",
          "requestBody",
          "responses",
          "security");
  private static final Pattern PARAMETER = Pattern.compile("\\{([^{}]*)\\}");

  private final JsonObject document;
  private final JsonSchema schemas;
  private final Map<String, JsonObject> operations = new LinkedHashMap<>();
  private final List<String> problems = new ArrayList<>();

  private OpenApiRules(JsonObject document) {
    this.document = document;
    this.schemas = new JsonSchema(document);
    paths().forEach(path -> pathItem(path).forEach(entry -> add(path, entry.getKey())));
  }

  private void add(String path, String method) {
    if (METHODS.contains(method)) {
      operations.put(method + " " + path, pathItem(path).getJsonObject(method));
    }
  }

  /** What a rule finds wrong with a document. */
  static List<String> problems(String rule, JsonObject document) {
    OpenApiRules rules = new OpenApiRules(document);
    rules.all().get(rule).run();
    return rules.problems;
  }

  static Set<String> names() {
    return new OpenApiRules(new JsonObject().put("paths", new JsonObject())).all().keySet();
  }

  private Map<String, Runnable> all() {
    Map<String, Runnable> rules = new LinkedHashMap<>();
    rules.put("struct", this::struct);
    rules.put("no-unresolved-refs", this::references);
    rules.put("info-license", () -> require(license() != null, "info"));
    rules.put(
        "info-license-strict",
        () -> require(license().containsKey("url") || license().containsKey("identifier"), "info"));
    rules.put("no-ambiguous-paths", () -> eachPairOfPaths(OpenApiRules::ambiguous));
    rules.put("no-identical-paths", () -> eachPairOfPaths(OpenApiRules::identical));
    rules.put(
        "no-path-trailing-slash",
        () -> paths().forEach(path -> require(!path.matches(".+/"), path)));
    rules.put(
        "path-declaration-must-exist",
        () -> paths().forEach(path -> require(!path.contains("{}"), path)));
    rules.put(
        "path-not-include-query",
        () -> paths().forEach(path -> require(!path.contains("?"), path)));
    rules.put("path-parameters-defined", this::pathParameters);
    rules.put("no-duplicated-enum-values", this::enumValues);
    rules.put("no-enum-type-mismatch", this::enumTypes);
    rules.put("no-schema-type-mismatch", this::schemaTypes);
    rules.put("no-required-schema-properties-undefined", this::requiredProperties);
    rules.put("no-illogical-composition-keywords", this::compositions);
    rules.put("no-mixed-number-range-constraints", this::ranges);
    rules.put("no-duplicated-tag-names", () -> unique(texts(tags(), "name")));
    rules.put(
        "tag-description",
        () -> objects(tags()).forEach(tag -> require(tag.containsKey("description"), tag)));
    rules.put("no-empty-servers", () -> require(!servers().isEmpty(), "servers"));
    rules.put(
        "no-server-example.com",
        () -> eachServer(url -> !url.matches("(.*[/.])?(example\\.com|localhost)([/:?].*)?")));
    rules.put("no-server-trailing-slash", () -> eachServer(url -> !url.matches(".+/")));
    rules.put("no-server-variables-empty-enum", this::serverEnums);
    rules.put("no-undefined-server-variable", this::serverVariables);
    rules.put("no-unsafe-markdown", this::markdown);
    rules.put("no-unused-components", this::unusedComponents);
    rules.put("spec-components-invalid-map-name", this::componentNames);
    rules.put("spec-ref-siblings", this::siblings);
    rules.put("no-example-value-and-externalValue", this::externalValues);
    rules.put("no-invalid-media-type-examples", this::mediaTypeExamples);
    rules.put("no-invalid-parameter-examples", this::parameterExamples);
    rules.put("no-invalid-schema-examples", this::schemaExamples);
    rules.put("operation-summary", () -> eachOperation(each -> each.containsKey("summary")));
    rules.put("operation-2xx-response", () -> eachOperation(each -> answers(each, "2..|default")));
    rules.put("operation-4xx-response", () -> eachOperation(each -> answers(each, "4..")));
    rules.put(
        "operation-operationId", () -> eachOperation(each -> each.containsKey("operationId")));
    rules.put("operation-operationId-unique", () -> unique(operationIds()));
    rules.put(
        "operation-operationId-url-safe",
        () -> operationIds().forEach(id -> require(id.matches("[A-Za-z0-9-._~]+"), id)));
    rules.put("operation-parameters-unique", this::parametersUnique);
    rules.put("security-defined", this::security);
    rules.put("security-scopes-defined", this::scopes);
    return rules;
  }

  // ---- The parts of a document

  /** Operations by method and path. */
  Map<String, JsonObject> operations() {
    return operations;
  }

  static OpenApiRules of(JsonObject document) {
    return new OpenApiRules(document);
  }

  private Set<String> paths() {
    return document.getJsonObject("paths").fieldNames();
  }

  private JsonObject pathItem(String path) {
    return document.getJsonObject("paths").getJsonObject(path);
  }

  private JsonObject license() {
    return document.getJsonObject("info").getJsonObject("license");
  }

  private JsonArray servers() {
    return document.getJsonArray("servers", new JsonArray());
  }

  private JsonArray tags() {
    return document.getJsonArray("tags", new JsonArray());
  }

  private List<String> operationIds() {
    return operations.values().stream().map(each -> each.getString("operationId", "")).toList();
  }

  private static List<JsonObject> objects(JsonArray array) {
    return array.stream().map(JsonObject.class::cast).toList();
  }

  private static List<String> texts(JsonArray array, String field) {
    return objects(array).stream().map(each -> each.getString(field)).toList();
  }

  private static boolean answers(JsonObject operation, String statuses) {
    return operation.getJsonObject("responses").fieldNames().stream()
        .anyMatch(status -> status.matches(statuses));
  }

  /** The parameters of an operation and of its path, without references. */
  private List<JsonObject> parameters(String name) {
    List<JsonObject> all = new ArrayList<>();
    for (JsonObject owner :
        List.of(pathItem(name.substring(name.indexOf(' ') + 1)), operations.get(name))) {
      objects(owner.getJsonArray("parameters", new JsonArray()))
          .forEach(each -> all.add(schemas.resolved(each)));
    }
    return all;
  }

  private void require(boolean good, Object place) {
    if (!good) {
      problems.add(String.valueOf(place));
    }
  }

  private void unique(List<String> names) {
    require(new HashSet<>(names).size() == names.size(), names);
  }

  private void eachOperation(Predicate<JsonObject> good) {
    operations.forEach((name, operation) -> require(good.test(operation), name));
  }

  private void eachServer(Predicate<String> good) {
    texts(servers(), "url").forEach(url -> require(good.test(url), url));
  }

  private void eachPairOfPaths(BiPredicate<String, String> same) {
    for (String one : paths()) {
      for (String other : paths()) {
        require(one.equals(other) || !same.test(one, other), one + " and " + other);
      }
    }
  }

  private static boolean identical(String one, String other) {
    return one.replaceAll("\\{[^}]*\\}", "{}").equals(other.replaceAll("\\{[^}]*\\}", "{}"));
  }

  /** Whether a request may fit both, and neither is the plainer one. */
  private static boolean ambiguous(String one, String other) {
    String[] left = one.split("/");
    String[] right = other.split("/");
    if (left.length != right.length) {
      return false;
    }
    boolean leftVaries = false;
    boolean rightVaries = false;
    for (int i = 0; i < left.length; i++) {
      boolean variesLeft = left[i].startsWith("{");
      boolean variesRight = right[i].startsWith("{");
      if (!variesLeft && !variesRight && !left[i].equals(right[i])) {
        return false;
      }
      leftVaries |= variesLeft && !variesRight;
      rightVaries |= variesRight && !variesLeft;
    }
    return leftVaries == rightVaries;
  }

  /** Calls the visitor with each object of the document and its place. */
  private void walk(BiConsumer<String, JsonObject> visitor) {
    walk("#", document, visitor);
  }

  private static void walk(String place, Object at, BiConsumer<String, JsonObject> visitor) {
    if (at instanceof JsonObject object) {
      visitor.accept(place, object);
      for (String name : object.fieldNames()) {
        // Examples are data.
        if (!name.equals("example") && !name.equals("value") && !name.equals("examples")) {
          walk(place + "/" + name, object.getValue(name), visitor);
        }
      }
    } else if (at instanceof JsonArray array) {
      for (int i = 0; i < array.size(); i++) {
        walk(place + "/" + i, array.getValue(i), visitor);
      }
    }
  }

  /** Calls the visitor with each schema, also those inside others. */
  private void eachSchema(BiConsumer<String, JsonObject> visitor) {
    walk(
        (place, object) -> {
          String name = place.substring(place.lastIndexOf('/') + 1);
          boolean inList = place.matches(".*/(oneOf|anyOf|allOf)/\\d+");
          boolean inMap = place.matches(".*/(properties|schemas)/[^/]+");
          boolean single = List.of("schema", "items", "then", "else").contains(name);
          if (inList || inMap || single) {
            visitor.accept(place, object);
          }
        });
  }

  private static boolean isType(JsonObject schema, String type) {
    return schema.containsKey("type") && JsonSchema.types(schema).contains(type);
  }

  // ---- The rules

  private void struct() {
    require(document.getString("openapi", "").startsWith("3.1."), "openapi");
    JsonObject info = document.getJsonObject("info", new JsonObject());
    require(info.containsKey("title") && info.containsKey("version"), "info");
    paths().forEach(path -> require(path.startsWith("/"), path));
    operations.forEach(
        (name, operation) -> {
          require(OPERATION_KEYS.containsAll(operation.fieldNames()), name);
          JsonObject responses = operation.getJsonObject("responses", new JsonObject());
          require(!responses.isEmpty(), name);
          for (String status : responses.fieldNames()) {
            require(status.matches("[1-5]\\d\\d|default"), name + " " + status);
            JsonObject response = schemas.resolved(responses.getJsonObject(status));
            require(response.containsKey("description"), name + " " + status);
          }
          for (JsonObject parameter : parameters(name)) {
            require(
                parameter.fieldNames().containsAll(List.of("name", "in", "schema")),
                name + " " + parameter);
          }
        });
  }

  private void references() {
    walk(
        (place, object) -> {
          String reference = object.getString("$ref");
          require(reference == null || schemas.resolve(reference) != null, place);
        });
  }

  private void pathParameters() {
    operations
        .keySet()
        .forEach(
            name -> {
              Set<String> defined = new TreeSet<>();
              for (JsonObject each : parameters(name)) {
                if (each.getString("in").equals("path")) {
                  defined.add(each.getString("name"));
                }
              }
              require(defined.equals(parametersIn(name)), name);
            });
  }

  private static Set<String> parametersIn(String template) {
    Set<String> names = new TreeSet<>();
    Matcher matcher = PARAMETER.matcher(template);
    while (matcher.find()) {
      names.add(matcher.group(1));
    }
    return names;
  }

  private void enumValues() {
    eachSchema(
        (place, schema) -> {
          List<?> values = schema.getJsonArray("enum", new JsonArray()).stream().toList();
          require(new HashSet<>(values).size() == values.size(), place);
        });
  }

  private void enumTypes() {
    eachSchema(
        (place, schema) -> {
          if (schema.containsKey("enum") && schema.containsKey("type")) {
            for (Object value : schema.getJsonArray("enum")) {
              List<String> types = JsonSchema.types(schema);
              require(types.stream().anyMatch(type -> JsonSchema.is(type, value)), place);
            }
          }
        });
  }

  private void schemaTypes() {
    eachSchema(
        (place, schema) -> {
          if (schema.containsKey("type")) {
            require(!schema.containsKey("items") || isType(schema, "array"), place);
            require(!schema.containsKey("properties") || isType(schema, "object"), place);
          }
        });
  }

  private void requiredProperties() {
    eachSchema(
        (place, schema) -> {
          JsonObject properties = schema.getJsonObject("properties", new JsonObject());
          for (Object name : schema.getJsonArray("required", new JsonArray())) {
            require(properties.containsKey((String) name), place + " " + name);
          }
        });
  }

  /** Of the members of oneOf, each pair differs in its types, or in a property that both need. */
  private void compositions() {
    eachSchema(
        (place, schema) -> {
          if (!schema.containsKey("oneOf")) {
            return;
          }
          List<JsonObject> members =
              objects(schema.getJsonArray("oneOf")).stream().map(schemas::resolved).toList();
          require(members.size() > 1, place);
          for (int i = 0; i < members.size(); i++) {
            for (int j = 0; j < i; j++) {
              require(differ(members.get(i), members.get(j)), place);
            }
          }
        });
  }

  private static boolean differ(JsonObject one, JsonObject other) {
    if (!JsonSchema.types(one).equals(JsonSchema.types(other))) {
      return true;
    }
    return one.getJsonArray("required", new JsonArray()).stream()
        .filter(name -> other.getJsonArray("required", new JsonArray()).contains(name))
        .map(String::valueOf)
        .anyMatch(
            name -> {
              Object left = one.getJsonObject("properties").getJsonObject(name).getValue("const");
              Object right =
                  other.getJsonObject("properties").getJsonObject(name).getValue("const");
              return left != null && right != null && !left.equals(right);
            });
  }

  private void ranges() {
    eachSchema(
        (place, schema) -> {
          for (String bound : List.of("aximum", "inimum")) {
            require(
                !schema.containsKey("m" + bound) || !schema.containsKey("exclusiveM" + bound),
                place);
          }
        });
  }

  private void eachServerVariable(BiConsumer<JsonObject, Set<String>> visitor) {
    for (JsonObject server : objects(servers())) {
      visitor.accept(
          server.getJsonObject("variables", new JsonObject()),
          parametersIn(server.getString("url")));
    }
  }

  private void serverVariables() {
    eachServerVariable(
        (variables, used) -> require(variables.fieldNames().equals(used), variables));
  }

  private void serverEnums() {
    eachServerVariable(
        (variables, used) -> {
          for (String name : variables.fieldNames()) {
            JsonObject variable = variables.getJsonObject(name);
            JsonArray values = variable.getJsonArray("enum");
            require(values == null || values.contains(variable.getString("default")), name);
          }
        });
  }

  private void markdown() {
    walk(
        (place, object) -> {
          if (object.getValue("description") instanceof String text) {
            require(!text.matches("(?is).*(<\\s*/?[a-z]|javascript:).*"), place);
          }
        });
  }

  private void unusedComponents() {
    String text = document.encode();
    JsonObject components = document.getJsonObject("components");
    for (String kind : List.of("schemas", "responses")) {
      for (String name : components.getJsonObject(kind).fieldNames()) {
        require(text.contains("\"#/components/" + kind + "/" + name + "\""), name);
      }
    }
  }

  private void componentNames() {
    JsonObject components = document.getJsonObject("components");
    for (String kind : components.fieldNames()) {
      for (String name : components.getJsonObject(kind).fieldNames()) {
        require(name.matches("[a-zA-Z0-9._-]+"), name);
      }
    }
  }

  private void siblings() {
    walk((place, object) -> require(!object.containsKey("$ref") || object.size() == 1, place));
  }

  private void externalValues() {
    eachExample((place, example) -> require(!example.containsKey("externalValue"), place));
  }

  private void eachExample(BiConsumer<String, JsonObject> visitor) {
    eachMediaType(
        (place, media) -> {
          JsonObject examples = media.getJsonObject("examples", new JsonObject());
          examples
              .fieldNames()
              .forEach(name -> visitor.accept(place + " " + name, examples.getJsonObject(name)));
        });
  }

  private void eachMediaType(BiConsumer<String, JsonObject> visitor) {
    walk(
        (place, object) -> {
          if (object.containsKey("schema") && place.contains("/content/")) {
            visitor.accept(place, object);
          }
        });
  }

  private void mediaTypeExamples() {
    eachMediaType(
        (place, media) -> {
          examples(media)
              .forEach(
                  value ->
                      problems.addAll(
                          schemas.problems(media.getJsonObject("schema"), value, place)));
        });
  }

  /** The values of all examples of a media type or parameter. */
  static List<Object> examples(JsonObject owner) {
    List<Object> values = new ArrayList<>();
    if (owner.containsKey("example")) {
      values.add(owner.getValue("example"));
    }
    JsonObject named = owner.getJsonObject("examples", new JsonObject());
    named.fieldNames().forEach(name -> values.add(named.getJsonObject(name).getValue("value")));
    return values;
  }

  private void parameterExamples() {
    for (String name : operations.keySet()) {
      for (JsonObject each : parameters(name)) {
        examples(each)
            .forEach(
                value ->
                    problems.addAll(schemas.problems(each.getJsonObject("schema"), value, name)));
      }
    }
  }

  private void schemaExamples() {
    eachSchema(
        (place, schema) -> {
          for (Object value : schema.getJsonArray("examples", new JsonArray())) {
            problems.addAll(schemas.problems(schema, value, place));
          }
        });
  }

  private void parametersUnique() {
    for (String name : operations.keySet()) {
      unique(
          parameters(name).stream()
              .map(each -> each.getString("in") + " " + each.getString("name"))
              .toList());
    }
  }

  private void eachRequirement(Consumer<JsonObject> visitor) {
    Function<JsonObject, Stream<JsonObject>> requirements =
        owner -> objects(owner.getJsonArray("security", new JsonArray())).stream();
    Stream.concat(Stream.of(document), operations.values().stream())
        .flatMap(requirements)
        .forEach(visitor);
  }

  private void security() {
    JsonObject schemes = document.getJsonObject("components").getJsonObject("securitySchemes");
    eachRequirement(
        requirement ->
            require(schemes.fieldNames().containsAll(requirement.fieldNames()), requirement));
    operations.forEach(
        (name, operation) ->
            require(document.containsKey("security") || operation.containsKey("security"), name));
  }

  /** Only OAuth has scopes, and no scheme here is that. */
  private void scopes() {
    eachRequirement(
        requirement ->
            requirement
                .fieldNames()
                .forEach(name -> require(requirement.getJsonArray(name).isEmpty(), requirement)));
  }
}
