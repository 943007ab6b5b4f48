package dev.evenkeel.seconduser;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.UTF_8;

import dev.evenkeel.api.Operation;
import dev.evenkeel.api.Operations;
import dev.evenkeel.functional.OddJson;
import dev.evenkeel.protocol.wire.Mutants;
import io.vertx.core.json.JsonObject;
import java.io.IOException;
import java.net.URLEncoder;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;

/**
 * Asks every operation of HTTP as a user who may do nothing, about what belongs to others. It fails
 * if an answer tells of a bug, or if an operation is done that needs a permission.
 */
final class HttpFuzz {
  private static final List<Operation<?, ?>> ALL =
      Operations.all().stream().filter(each -> each.path() != null).toList();

  /** Names that are there, and that are not. */
  private static final List<String> NAMES =
      List.of(
          "honest", "looks", "shop", "shop-http", "n1", "0", "zzz", "..", "%2e", "a b", "\u0000");

  private final Target target;
  private final String token;
  private final Random random;
  private final Map<Integer, Integer> statuses = new TreeMap<>();
  private RawHttp http;

  HttpFuzz(Target target, String token, Random random) {
    this.target = target;
    this.token = token;
    this.random = random;
  }

  void send(int requests) throws IOException {
    for (int i = 0; i < requests; i++) {
      if (http == null || http.hasEnded()) {
        http = RawHttp.open(target, token);
      }
      try {
        ask(ALL.get(i % ALL.size()));
      } catch (IOException e) {
        // What is malformed, the node answers by closing the connection.
        http = null;
        statuses.merge(0, 1, Integer::sum);
      }
    }
  }

  int answers(int status) {
    return statuses.getOrDefault(status, 0);
  }

  private static <Q extends Record> JsonObject example(Operation<Q, ?> operation) {
    JsonObject question = operation.ask(operation.questionExample());
    question.remove(Operation.ACTION);
    operation.parameters().forEach(each -> question.remove(operation.field(each)));
    return question;
  }

  private void ask(Operation<?, ?> operation) throws IOException {
    String path = operation.path(any -> encoded(name()));
    JsonObject question = example(operation);
    String headers = "";
    byte[] body = null;
    if (operation.hasBody()) {
      body = OddJson.of(question, random);
      if (random.nextInt(4) == 0) {
        body = Mutants.of(body.length == 0 ? new byte[1] : body, random);
      }
      headers = "Content-Type: application/json\r\n";
    } else {
      path += query(question);
    }
    http.send(operation.method().name(), path, headers, body);
    RawHttp.Answer answer = http.read();
    statuses.merge(answer.status(), 1, Integer::sum);
    String what = operation.method() + " " + path + ": " + answer.status() + " " + answer.body();
    if (answer.status() == 500 || answer.body().contains("internal error")) {
      throw new AssertionError("a bug: " + what + ", asked " + text(body));
    }
    // With dots, it may be the path of another operation.
    boolean free =
        path.contains("/..")
            || operation.isOpen()
            || operation.needed() == null
            || operation == Operations.DESCRIBE_CLUSTER;
    if (answer.status() < 300 && !free) {
      throw new AssertionError("nobody may do this: " + what + ", asked " + text(body));
    }
  }

  private static String text(byte[] body) {
    return body == null ? "nothing" : new String(body, ISO_8859_1);
  }

  private String name() {
    int which = random.nextInt(NAMES.size() + 2);
    return which < NAMES.size() ? NAMES.get(which) : "x".repeat(1 << random.nextInt(8));
  }

  private static String encoded(String text) {
    return URLEncoder.encode(text, UTF_8).replace("+", "%20");
  }

  private String query(JsonObject question) {
    StringBuilder query = new StringBuilder();
    question.forEach(
        field -> {
          if (random.nextInt(3) > 0) {
            String value = random.nextInt(3) > 0 ? String.valueOf(field.getValue()) : name();
            query.append(query.isEmpty() ? "?" : "&");
            query.append(encoded(field.getKey())).append('=').append(encoded(value));
          }
        });
    return query.toString();
  }

  /** How many answers had each status; 0: the node closed the connection. */
  @Override
  public String toString() {
    return statuses.toString();
  }
}
