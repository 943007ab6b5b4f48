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
import io.vertx.openapi.contract.ContractErrorType;
import io.vertx.openapi.contract.OpenAPIContract;
import io.vertx.openapi.contract.OpenAPIContractException;
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
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.io.TempDir;

/**
 * The OpenAPI document is one, has an example for each request and answer, and says of errors and
 * users what the node does. {@link WebVerticleTest} compares its paths with the routes.
 */
class OpenApiTest {
  private static final JsonObject DOCUMENT = DescribedApi.DOCUMENT;
  private static final Map<String, JsonObject> OPERATIONS = operations();

  @TempDir Path directory;

  private static Map<String, JsonObject> operations() {
    Map<String, JsonObject> operations = new LinkedHashMap<>();
    for (Map.Entry<String, Object> path : DOCUMENT.getJsonObject("paths")) {
      for (Map.Entry<String, Object> method : (JsonObject) path.getValue()) {
        operations.put(method.getKey() + " " + path.getKey(), (JsonObject) method.getValue());
      }
    }
    return operations;
  }

  private static JsonObject schemas(JsonObject document) {
    return document.getJsonObject("components").getJsonObject("schemas");
  }

  // ---- The form

  private static String refusal(JsonObject document) throws Exception {
    Vertx vertx = Vertx.vertx();
    // The library takes neither templates nor relative URLs, which the specification allows.
    document.put("servers", new JsonArray().add(new JsonObject().put("url", "http://a.example")));
    try {
      await(OpenAPIContract.from(vertx, document));
      return null;
    } catch (OpenAPIContractException e) {
      // It looks for features that it does not support once the schema of OpenAPI is kept.
      return e.type() == ContractErrorType.UNSUPPORTED_FEATURE ? null : e.getMessage();
    } finally {
      await(vertx.close());
    }
  }

  @Test
  void theDocumentKeepsTheSpecification() throws Exception {
    assertThat(refusal(DOCUMENT.copy())).isNull();
    JsonObject faulty = DOCUMENT.copy();
    faulty
        .getJsonObject("paths")
        .getJsonObject("/api/topics")
        .getJsonObject("get")
        .remove("responses");
    assertThat(refusal(faulty)).isNotNull();
  }

  @Test
  void everyReferenceLeadsToSomethingAndEveryComponentIsUsed() {
    String text = DOCUMENT.encode();
    Set<String> used = new TreeSet<>();
    Pattern reference = Pattern.compile("\"#/components/(\\w+/\\w+)\"");
    reference.matcher(text).results().forEach(each -> used.add(each.group(1)));
    Set<String> there = new TreeSet<>();
    for (String kind : List.of("schemas", "responses")) {
      DOCUMENT
          .getJsonObject("components")
          .getJsonObject(kind)
          .fieldNames()
          .forEach(each -> there.add(kind + "/" + each));
    }
    assertThat(used).isEqualTo(there);
  }

  @Test
  void everyOperationHasOneKnownTagAndASummary() {
    Set<String> tags = new TreeSet<>();
    DOCUMENT.getJsonArray("tags").forEach(tag -> tags.add(((JsonObject) tag).getString("name")));
    OPERATIONS.forEach(
        (name, operation) -> {
          assertThat(operation.getJsonArray("tags").stream().toList())
              .as(name)
              .hasSize(1)
              .isSubsetOf(tags);
          assertThat(operation.getString("summary")).as(name).isNotBlank();
        });
  }

  @Test
  void aBodyHasNoOtherFieldsAndSomeNeedOne() {
    for (JsonObject operation : OPERATIONS.values()) {
      JsonObject body =
          operation
              .getJsonObject("requestBody", new JsonObject())
              .getJsonObject("content", new JsonObject())
              .getJsonObject("application/json", new JsonObject())
              .getJsonObject("schema", new JsonObject());
      String name = body.getString("$ref", "").replaceFirst(".*/", "");
      if (!name.isEmpty()) {
        JsonObject schema = schemas(DOCUMENT).getJsonObject(name);
        assertThat(schema.getValue("additionalProperties")).as(name).isEqualTo(false);
        assertThat(schema.getInteger("minProperties"))
            .as(name)
            .isEqualTo(Set.of("QuotaLimits", "TopicSettings").contains(name) ? 1 : null);
      }
    }
  }

  /** Generated clients have classes with these names. */
  @Test
  void partsOfResultsHaveNames() {
    assertThat(schemas(DOCUMENT).fieldNames())
        .contains("DoneMessage", "FailedMessage", "RefusedResult");
  }

  // ---- Examples

  private static List<JsonObject> bodies(String name, JsonObject operation) {
    List<JsonObject> bodies = new ArrayList<>();
    if (operation.containsKey("requestBody")) {
      bodies.add(operation.getJsonObject("requestBody").getJsonObject("content"));
    }
    JsonObject responses = operation.getJsonObject("responses");
    assertThat(responses.fieldNames()).as(name).contains("default");
    for (String status : responses.fieldNames()) {
      if (!status.equals("204")) {
        bodies.add(DescribedApi.resolved(responses.getJsonObject(status)).getJsonObject("content"));
      }
    }
    return bodies;
  }

  private static List<Object> examples(JsonObject media) {
    if (media.containsKey("example")) {
      return List.of(media.getValue("example"));
    }
    return media.getJsonObject("examples", new JsonObject()).stream()
        .map(each -> ((JsonObject) each.getValue()).getValue("value"))
        .toList();
  }

  @TestFactory
  Stream<DynamicTest> everyRequestAndAnswerHasExamplesThatFit() {
    return OPERATIONS.entrySet().stream()
        .map(
            each ->
                dynamicTest(
                    each.getKey(),
                    () -> {
                      for (JsonObject content : bodies(each.getKey(), each.getValue())) {
                        content.forEach(
                            media -> assertExamples(media.getKey(), (JsonObject) media.getValue()));
                      }
                    }));
  }

  private static void assertExamples(String type, JsonObject media) {
    if (type.equals("*/*")) {
      return;
    }
    assertThat(examples(media)).as(type).isNotEmpty();
    for (Object each : examples(media)) {
      assertThat(DescribedApi.problems(DOCUMENT, media.getJsonObject("schema"), each))
          .as("%s", each)
          .isEmpty();
    }
  }

  @Test
  void anExampleThatDoesNotFitIsFound() {
    JsonObject document = DOCUMENT.copy();
    JsonObject schema = new JsonObject().put("$ref", "#/components/schemas/Health");
    JsonObject good = new JsonObject().put("status", "UP").put("node", "n1");
    assertThat(DescribedApi.problems(document, schema, good)).isEmpty();
    assertThat(DescribedApi.problems(document, schema, good.copy().put("other", 1))).isNotEmpty();
    schemas(document)
        .getJsonObject("Health")
        .getJsonObject("properties")
        .getJsonObject("node")
        .put("type", "integer");
    assertThat(DescribedApi.problems(document, schema, good)).isNotEmpty();
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
    assertThat(DescribedApi.problems("GET", "/api/topics", 200, bad)).isNotEmpty();
  }

  // ---- Errors

  private static String errorsOf(int status) {
    JsonObject responses = DOCUMENT.getJsonObject("components").getJsonObject("responses");
    for (JsonObject operation : OPERATIONS.values()) {
      JsonObject answer = operation.getJsonObject("responses").getJsonObject("" + status);
      if (answer != null && answer.containsKey("$ref")) {
        return DescribedApi.resolved(answer).getString("description");
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
    Token secret = Token.random();
    Users.User user =
        new Users.User(
            "operator",
            List.of(secret.digest()),
            null,
            1,
            List.of(Permission.parse("view:*"), Permission.parse("admin:*")));
    Path users = directory.resolve("users.json");
    Files.writeString(users, new Users(List.of(user)).text());
    String text = "ek_" + secret.id() + "_" + secret.secret();
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
        JsonObject token = new JsonObject().put("token", text);
        String set =
            await(client.post(web.actualPort(), "127.0.0.1", "/api/session").sendJsonObject(token))
                .getHeader("set-cookie");
        String cookie = set.substring(0, set.indexOf(';'));
        assertThat(await(request.copy().putHeader("cookie", cookie).send()).statusCode())
            .as(name)
            .isNotEqualTo(401);
      }
    } finally {
      await(vertx.close());
    }
  }
}
