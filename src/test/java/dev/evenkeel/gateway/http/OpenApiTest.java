package dev.evenkeel.gateway.http;

import static dev.evenkeel.Futures.await;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.DynamicTest.dynamicTest;

import dev.evenkeel.api.HttpStatus;
import dev.evenkeel.api.Permission;
import dev.evenkeel.gateway.access.Token;
import dev.evenkeel.gateway.access.Users;
import dev.evenkeel.protocol.Refusal;
import io.vertx.core.DeploymentOptions;
import io.vertx.core.Vertx;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpMethod;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import io.vertx.ext.web.client.HttpRequest;
import io.vertx.ext.web.client.WebClient;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Consumer;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.io.TempDir;

/**
 * The OpenAPI document keeps the rules of Redocly's ruleset {@code recommended}, has an example for
 * each request and answer, and says of errors and users what the node does. {@link WebVerticleTest}
 * compares its paths with the routes.
 */
class OpenApiTest {
  private static final JsonObject DOCUMENT = NodeRoutes.OPEN_API;
  private static final Map<String, JsonObject> OPERATIONS = OpenApiRules.of(DOCUMENT).operations();

  @TempDir Path directory;

  @TestFactory
  Stream<DynamicTest> theDocumentKeepsTheRule() {
    return OpenApiRules.names().stream()
        .map(
            rule ->
                dynamicTest(
                    rule,
                    () -> assertThat(OpenApiRules.problems(rule, DOCUMENT)).as(rule).isEmpty()));
  }

  /** A fault for each of some rules, to see that rules can find any. */
  private static Map<String, Consumer<JsonObject>> faults() {
    Map<String, Consumer<JsonObject>> faults = new LinkedHashMap<>();
    faults.put("struct", document -> list(document).remove("responses"));
    faults.put("no-unresolved-refs", document -> schemas(document).remove("Topic"));
    faults.put("info-license", document -> document.getJsonObject("info").remove("license"));
    faults.put("no-empty-servers", document -> document.remove("servers"));
    faults.put("no-identical-paths", document -> addPath(document, "/api/topics/{name}"));
    faults.put("no-ambiguous-paths", document -> addPath(document, "/api/{any}/orders"));
    faults.put("path-parameters-defined", document -> addPath(document, "/api/other/{any}"));
    faults.put("operation-summary", document -> list(document).remove("summary"));
    faults.put(
        "operation-4xx-response",
        document ->
            list(document).getJsonObject("responses").fieldNames().removeIf(s -> s.matches("4..")));
    faults.put(
        "operation-operationId-unique", document -> list(document).put("operationId", "live"));
    faults.put("security-defined", document -> document.remove("security"));
    faults.put("no-unused-components", document -> schemas(document).put("X", new JsonObject()));
    faults.put(
        "no-required-schema-properties-undefined",
        document -> schemas(document).getJsonObject("Topic").getJsonArray("required").add("x"));
    faults.put(
        "no-invalid-media-type-examples",
        document ->
            schemas(document)
                .getJsonObject("Topic")
                .getJsonObject("properties")
                .getJsonObject("shards")
                .put("type", "string"));
    faults.put(
        "no-illogical-composition-keywords",
        document ->
            schemas(document).getJsonObject("LiveChange").getJsonArray("required").remove("type"));
    faults.put(
        "no-unsafe-markdown",
        document -> list(document).put("description", "<script>alert(1)</script>"));
    return faults;
  }

  private static JsonObject list(JsonObject document) {
    return document.getJsonObject("paths").getJsonObject("/api/topics").getJsonObject("get");
  }

  private static JsonObject schemas(JsonObject document) {
    return document.getJsonObject("components").getJsonObject("schemas");
  }

  private static void addPath(JsonObject document, String path) {
    document.getJsonObject("paths").put(path, new JsonObject().put("get", list(document)));
  }

  @TestFactory
  Stream<DynamicTest> aFaultIsFoundByTheRule() {
    return faults().entrySet().stream()
        .map(
            fault ->
                dynamicTest(
                    fault.getKey(),
                    () -> {
                      JsonObject document = DOCUMENT.copy();
                      fault.getValue().accept(document);
                      assertThat(OpenApiRules.problems(fault.getKey(), document)).isNotEmpty();
                    }));
  }

  @Test
  void everyOperationHasOneKnownTag() {
    Set<String> tags = new TreeSet<>();
    DOCUMENT.getJsonArray("tags").forEach(tag -> tags.add(((JsonObject) tag).getString("name")));
    OPERATIONS.forEach(
        (name, operation) ->
            assertThat(operation.getJsonArray("tags").stream().toList())
                .as(name)
                .hasSize(1)
                .isSubsetOf(tags));
  }

  @Test
  void everyRequestAndAnswerHasAnExample() {
    JsonSchema schemas = new JsonSchema(DOCUMENT);
    OPERATIONS.forEach(
        (name, operation) -> {
          List<JsonObject> bodies = new ArrayList<>();
          if (operation.containsKey("requestBody")) {
            bodies.add(operation.getJsonObject("requestBody").getJsonObject("content"));
          }
          JsonObject responses = operation.getJsonObject("responses");
          assertThat(responses.fieldNames()).as(name).contains("default");
          for (String status : responses.fieldNames()) {
            if (!status.equals("204")) {
              bodies.add(
                  schemas.resolved(responses.getJsonObject(status)).getJsonObject("content"));
            }
          }
          for (JsonObject content : bodies) {
            for (String type : content.fieldNames()) {
              if (!type.equals("*/*")) {
                assertThat(OpenApiRules.examples(content.getJsonObject(type)))
                    .as("%s %s", name, type)
                    .isNotEmpty();
              }
            }
          }
        });
  }

  /** {@code JsonApiIT} compares what a node answers. */
  @Test
  void anAnswerIsComparedWithTheDocument() {
    String good = "{\"error\":\"UNKNOWN_TOPIC\",\"message\":\"there is no topic 'x'\"}";
    assertThat(DescribedApi.problems("GET", "/api/topics/x?a=b", 404, good)).isEmpty();
    assertThat(DescribedApi.problems("GET", "/api/topics/x", 200, good)).isNotEmpty();
    String bad =
        "[{\"name\":\"x\",\"shards\":\"1\",\"retentionMillis\":1,\"ageMillisMax\":-1,"
            + "\"shardBytesMax\":-1,\"createdMillis\":1}]";
    assertThat(DescribedApi.problems("GET", "/api/topics", 200, bad)).hasSize(1);
  }

  // ---- Errors

  private static String errorsOf(int status) {
    JsonObject responses = DOCUMENT.getJsonObject("components").getJsonObject("responses");
    for (JsonObject operation : OPERATIONS.values()) {
      JsonObject answer = operation.getJsonObject("responses").getJsonObject("" + status);
      if (answer != null && answer.containsKey("$ref")) {
        return new JsonSchema(DOCUMENT).resolved(answer).getString("description");
      }
    }
    return responses.getJsonObject("Other").getString("description");
  }

  @Test
  void everyRefusalIsAWordOfTheErrorAndOfItsStatus() {
    JsonArray words =
        schemas(DOCUMENT)
            .getJsonObject("Error")
            .getJsonObject("properties")
            .getJsonObject("error")
            .getJsonArray("x-extensible-enum");
    for (Refusal refusal : Refusal.values()) {
      assertThat(words).contains(refusal.name());
      assertThat(errorsOf(HttpStatus.of(refusal))).contains(refusal.name());
    }
  }

  /** Those that are no refusals, and are written in the sources of this package. */
  @Test
  void everyOtherWordOfAnErrorIsInTheSources() throws IOException {
    Set<String> written = new TreeSet<>();
    Pattern word = Pattern.compile("\"([A-Z]+_[A-Z_]+)\"");
    try (Stream<Path> files = Files.list(Path.of("src/main/java/dev/evenkeel/gateway/http"))) {
      for (Path file : files.toList()) {
        word.matcher(Files.readString(file)).results().forEach(each -> written.add(each.group(1)));
      }
    }
    Set<String> described = new TreeSet<>();
    schemas(DOCUMENT)
        .getJsonObject("Error")
        .getJsonObject("properties")
        .getJsonObject("error")
        .getJsonArray("x-extensible-enum")
        .forEach(each -> described.add((String) each));
    for (Refusal refusal : Refusal.values()) {
      described.remove(refusal.name());
      written.remove(refusal.name());
    }
    assertThat(described).isEqualTo(written);
    String responses = DOCUMENT.getJsonObject("components").getJsonObject("responses").encode();
    described.forEach(each -> assertThat(responses).contains(each));
  }

  // ---- Users

  /** Each operation without a user, with a token in the header, and with one in the cookie. */
  @Test
  void anOperationNeedsAUserIfTheDocumentSaysSo() throws Exception {
    Token token = Token.random();
    Users.User user =
        new Users.User(
            "operator",
            List.of(token.digest()),
            null,
            List.of(Permission.parse("view:*"), Permission.parse("admin:*")));
    Path users = directory.resolve("users.json");
    Files.writeString(users, new Users(List.of(user)).text());
    String text = "ek_" + token.id() + "_" + token.secret();
    Vertx vertx = Vertx.vertx();
    try {
      WebVerticle web = new WebVerticle();
      JsonObject config = new JsonObject().put("port", 0).put("users", users.toString());
      await(vertx.deployVerticle(web, new DeploymentOptions().setConfig(config)));
      WebClient client = WebClient.create(vertx);
      for (String name : OPERATIONS.keySet()) {
        String[] parts = name.split(" ");
        HttpMethod method = HttpMethod.valueOf(parts[0].toUpperCase(Locale.ROOT));
        String path = parts[1].replaceAll("\\{\\w+\\}", "1");
        HttpRequest<Buffer> request = client.request(method, web.actualPort(), "127.0.0.1", path);
        boolean open = new JsonArray().equals(OPERATIONS.get(name).getJsonArray("security"));
        boolean asksWho = name.equals("get /api/session");
        int without = await(request.copy().send()).statusCode();
        assertThat(without == 401).as(name).isEqualTo(!open || asksWho);
        String header = "Bearer " + text;
        assertThat(await(request.copy().putHeader("authorization", header).send()).statusCode())
            .as(name)
            .isNotEqualTo(401);
        String cookie = "evenkeel-token=" + text;
        assertThat(await(request.copy().putHeader("cookie", cookie).send()).statusCode())
            .as(name)
            .isNotEqualTo(401);
      }
    } finally {
      await(vertx.close());
    }
  }
}
