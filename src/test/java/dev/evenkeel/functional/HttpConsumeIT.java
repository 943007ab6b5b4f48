package dev.evenkeel.functional;

import static org.assertj.core.api.Assertions.assertThat;

import dev.evenkeel.TestUsers;
import dev.evenkeel.Wait;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Members of groups over HTTP, at a real node. */
class HttpConsumeIT extends OneNode {
  /** A session of a group. */
  private static final class Session {
    final String group;
    final String path;

    Session(String group, JsonObject options) {
      this.group = group;
      var opened = node.post("/api/groups/" + group + "/sessions", options.encode());
      assertThat(opened.statusCode()).as(opened.body()).isEqualTo(201);
      JsonObject answer = new JsonObject(opened.body());
      assertThat(answer.fieldNames()).containsExactly("session", "member", "expiresMs");
      path = "/api/groups/" + group + "/sessions/" + answer.getString("session");
    }

    List<JsonObject> poll(String query) {
      HttpResponse<String> answer = node.get(path + "/messages?" + query);
      assertThat(answer.statusCode()).as(answer.body()).isEqualTo(200);
      return objects(new JsonObject(answer.body()).getJsonArray("messages"));
    }

    /** Returns what was refused. */
    List<JsonObject> results(List<JsonObject> done, List<JsonObject> failed) {
      JsonObject body = new JsonObject().put("done", names(done)).put("failed", names(failed));
      HttpResponse<String> answer = node.post(path + "/results", body.encode());
      assertThat(answer.statusCode()).as(answer.body()).isEqualTo(200);
      return objects(new JsonObject(answer.body()).getJsonArray("refused"));
    }

    void close() {
      assertThat(node.delete(path).statusCode()).isEqualTo(204);
    }
  }

  private static List<JsonObject> objects(JsonArray array) {
    return array.stream().map(JsonObject.class::cast).toList();
  }

  private static JsonArray names(List<JsonObject> messages) {
    JsonArray names = new JsonArray();
    for (JsonObject message : messages) {
      JsonObject name = new JsonObject();
      for (String field : List.of("topic", "shard", "offset", "epoch", "error")) {
        if (message.containsKey(field)) {
          name.put(field, message.getValue(field));
        }
      }
      names.add(name);
    }
    return names;
  }

  private static JsonObject of(String topic) {
    return new JsonObject().put("topics", new JsonArray().add(topic));
  }

  @Test
  void aSessionGetsOnlyWhatItsFilterTakes() {
    node.createTopic("picked", 1);
    node.sendAll(
        "picked",
        IntStream.range(0, 20)
            .mapToObj(i -> new JsonObject().put("key", "k" + i % 5).put("payload", "m" + i))
            .toList());
    JsonArray filter = new JsonArray().add("key=k3");
    Session session = new Session("picked", of("picked").put("filter", filter));
    List<String> got = new ArrayList<>();
    while (got.size() < 4) {
      List<JsonObject> messages = session.poll("waitMs=5000");
      messages.forEach(message -> got.add(message.getString("payload")));
      messages.forEach(message -> assertThat(message.getLong("logIndex")).isPositive());
      assertThat(session.results(messages, List.of())).isEmpty();
    }
    assertThat(got).containsExactly("m3", "m8", "m13", "m18");
    node.awaitConsumed("picked", 20);
    String path = "/api/groups/picked/sessions";
    var bad = node.post(path, of("picked").put("filter", new JsonArray().add("k3")).encode());
    assertThat(bad.statusCode()).isEqualTo(400);
    assertThat(bad.body()).contains("key^=PREFIX");
    session.close();
  }

  @Test
  void messagesComeInOrderFailAndComeAgain() {
    node.createTopic("http", 1);
    node.send("http", IntStream.range(0, 20).mapToObj(String::valueOf).toList());
    var session = new Session("http", of("http").put("retryDelaysMillis", new JsonArray().add(1)));
    List<String> got = new ArrayList<>();
    List<Integer> attempts = new ArrayList<>();
    while (got.size() < 20) {
      for (JsonObject message : session.poll("max=10&waitMs=5000")) {
        // The lease without an owner, with which the subscription began, had epoch 1.
        assertThat(message.getLong("epoch")).isEqualTo(2);
        if (message.getLong("offset") == 7 && message.getInteger("attempt") == 1) {
          attempts.add(1);
          message.put("error", "not yet");
          assertThat(session.results(List.of(), List.of(message))).isEmpty();
        } else {
          got.add(message.getString("payload"));
          assertThat(session.results(List.of(message), List.of())).isEmpty();
          List<JsonObject> again = session.results(List.of(message), List.of());
          assertThat(again).as("it has ended").hasSize(1);
          assertThat(again.get(0).getString("reason")).isEqualTo("FENCED");
        }
      }
    }
    assertThat(got)
        .containsExactlyElementsOf(IntStream.range(0, 20).mapToObj(String::valueOf).toList());
    assertThat(attempts).containsExactly(1);
    node.awaitConsumed("http", 20);
    session.close();
    assertThat(node.get(session.path + "/messages").statusCode()).isEqualTo(404);
  }

  @Test
  void whoLostAnAnswerAsksAgain() {
    node.createTopic("again", 1);
    node.send("again", List.of("a", "b", "c"));
    Session session = new Session("again", of("again").put("order", "none"));
    List<JsonObject> first = session.poll("waitMs=5000");
    while (first.size() < 3) {
      first = session.poll("again=true");
    }
    assertThat(session.poll("again=true&max=2")).isEqualTo(first.subList(0, 2));
    assertThat(session.poll("waitMs=0")).isEqualTo(first.subList(2, 3));
    assertThat(session.results(first, List.of())).isEmpty();
    assertThat(session.poll("again=true&waitMs=0")).isEmpty();
    session.close();
  }

  @Test
  void aSessionThatIsNotUsedEndsAndItsMessagesGoToAnother() {
    node.createTopic("left", 2);
    node.sendByKey("left", List.of("a", "b", "c", "d"));
    Session left = new Session("left", of("left").put("expiresMs", 5_000).put("member", "left"));
    List<JsonObject> held = left.poll("waitMs=5000");
    assertThat(held).isNotEmpty();

    Session other = new Session("left", of("left").put("member", "other"));
    List<JsonObject> got = new ArrayList<>();
    Wait.until(
        "the other session gets all",
        () -> {
          List<JsonObject> some = other.poll("waitMs=1000");
          other.results(some, List.of());
          got.addAll(some);
          return got.size() == 4;
        });
    JsonObject first = held.get(0);
    assertThat(got)
        .filteredOn(each -> each.getString("payload").equals(first.getString("payload")))
        .singleElement()
        .satisfies(
            again -> assertThat(again.getLong("epoch")).isGreaterThan(first.getLong("epoch")));
    assertThat(node.post(left.path + "/extend", "").statusCode()).isEqualTo(404);
    other.close();
  }

  /** A client takes messages and is gone, again and again, because of one of them. */
  @Tag("full")
  @ParameterizedTest
  @ValueSource(strings = {"sharded", "level"})
  void whatKillsOneClientAfterTheOtherBecomesADeadLetter(String mode) {
    String topic = "poison-" + mode;
    node.createTopic(topic, 2);
    node.sendByKey(topic, List.of("a", "b", "poison", "c", "d", "e"));
    JsonObject options = of(topic).put("mode", mode).put("expiresMs", 5_000).put("crashesMax", 3);
    Set<String> consumed = new TreeSet<>();
    int deaths = 0;
    while (letters(topic).isEmpty() || consumed.size() < 5) {
      assertThat(deaths).isLessThan(5);
      Session session = new Session(topic, options);
      boolean dies = false;
      while (!dies && (letters(topic).isEmpty() || consumed.size() < 5)) {
        for (JsonObject message : session.poll("waitMs=500")) {
          if (message.getString("payload").equals("poison")) {
            dies = true;
          } else {
            session.results(List.of(message), List.of());
            consumed.add(message.getString("payload"));
          }
        }
      }
      deaths += dies ? 1 : 0;
      // Whoever has died asks for nothing. Another client is there at once, or a while later.
      if (deaths % 2 == 1) {
        Wait.until(30, () -> members(topic).isEmpty());
      }
    }
    JsonObject letter = letters(topic).getJsonObject(0);
    assertThat(letter.getString("payload")).isEqualTo("poison");
    assertThat(letter.getString("error")).contains("died 3 times while it was handled");
    assertThat(letters(topic)).hasSize(1);
    assertThat(consumed).containsExactly("a", "b", "c", "d", "e");
  }

  private static JsonArray letters(String group) {
    return new JsonArray(node.get("/api/groups/" + group + "/dead-letters").body());
  }

  private static JsonArray members(String group) {
    return new JsonObject(node.get("/api/groups/" + group).body()).getJsonArray("members");
  }

  @Test
  void eventsFlowAsLongAsTheyAreReadAndEnded() throws IOException, InterruptedException {
    node.createTopic("events", 2);
    Session session = new Session("events", of("events"));
    HttpResponse<java.io.InputStream> stream =
        HttpClient.newHttpClient()
            .send(
                TestUsers.request(URI.create(node.url() + session.path + "/events")).build(),
                HttpResponse.BodyHandlers.ofInputStream());
    assertThat(stream.headers().firstValue("content-type")).contains("text/event-stream");
    node.sendByKey("events", IntStream.range(0, 30).mapToObj(String::valueOf).toList());
    try (BufferedReader lines =
        new BufferedReader(new InputStreamReader(stream.body(), StandardCharsets.UTF_8))) {
      List<String> got = new ArrayList<>();
      while (got.size() < 30) {
        String line = lines.readLine();
        if (line.startsWith("data: ")) {
          JsonObject message = new JsonObject(line.substring(6));
          got.add(message.getString("payload"));
          assertThat(session.results(List.of(message), List.of())).isEmpty();
        }
      }
      assertThat(got).doesNotHaveDuplicates();
      session.close();
      String line = lines.readLine();
      while (line != null && !line.startsWith("event: end")) {
        line = lines.readLine();
      }
      assertThat(line).isEqualTo("event: end");
      assertThat(lines.readLine()).contains("UNKNOWN_SESSION");
    }
  }

  @Test
  void badRequestsSayWhatWouldBeRight() {
    node.createTopic("strict", 1);
    refused(of("nowhere"), 404, "UNKNOWN_TOPIC");
    refused(new JsonObject(), 400, "the field 'topics' is missing: it must be an array");
    refused(of("strict").put("ordr", "key"), 400, "did you mean 'order'");
    refused(of("strict").put("order", "odd"), 400, "odd");
    refused(of("strict").put("mode", "broadcast"), 400, "mode broadcast");
    refused(of("strict").put("expiresMs", 1), 400, "5000");
    refused(of("strict").put("user", "root"), 400, "unknown field 'user'");
    Session session = new Session("strict", of("strict"));
    assertThat(node.get(session.path + "/messages?max=0").statusCode()).isEqualTo(400);
    assertThat(node.get(session.path + "/messages?waitMs=15001").statusCode()).isEqualTo(400);
    assertThat(node.post(session.path + "/results", "{}").statusCode()).isEqualTo(400);
    assertThat(node.post(session.path + "/results", "{\"done\":[1]}").statusCode()).isEqualTo(400);
    assertThat(node.post(session.path + "/results", "{\"done\":[{\"payload\":1}]}").body())
        .contains("unknown field 'done[0].payload'");
    assertThat(node.get("/api/groups/other/sessions/" + id(session) + "/messages").statusCode())
        .as("a session of another group")
        .isEqualTo(404);
    assertThat(node.get("/api/groups/strict/sessions/odd/messages").statusCode()).isEqualTo(404);
    session.close();
  }

  private static String id(Session session) {
    return session.path.substring(session.path.lastIndexOf('/') + 1);
  }

  private static void refused(JsonObject options, int status, String words) {
    HttpResponse<String> answer = node.post("/api/groups/strict/sessions", options.encode());
    assertThat(answer.statusCode()).as(answer.body()).isEqualTo(status);
    assertThat(answer.body()).contains(words);
  }
}
