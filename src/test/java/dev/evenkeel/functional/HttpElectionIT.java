package dev.evenkeel.functional;

import static org.assertj.core.api.Assertions.assertThat;

import dev.evenkeel.TestUsers;
import io.vertx.core.json.JsonObject;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpResponse;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

/** Candidates over HTTP, at a real node. */
class HttpElectionIT extends OneNode {
  private static final HttpClient CLIENT = HttpClient.newHttpClient();

  /** A candidate of an election. */
  private static final class Caller {
    final String path;

    Caller(String election, JsonObject fields) {
      String all = "/api/elections/" + election + "/candidates";
      var opened = node.post(all, fields.encode());
      assertThat(opened.statusCode()).as(opened.body()).isEqualTo(201);
      JsonObject answer = new JsonObject(opened.body());
      assertThat(answer.fieldNames()).containsExactly("candidate", "member", "expiresMs");
      path = all + "/" + answer.getString("candidate");
    }

    static Caller named(String election, String member) {
      return new Caller(election, new JsonObject().put("member", member));
    }

    CompletableFuture<HttpResponse<String>> ask(String query) {
      return CLIENT.sendAsync(
          TestUsers.request(URI.create(node.url() + path + query)).build(),
          HttpResponse.BodyHandlers.ofString());
    }

    JsonObject watch(String query) {
      return answer(ask(query).join(), 200);
    }

    JsonObject tell(String what, long term, int status) {
      String body = new JsonObject().put("term", term).encode();
      return answer(node.post(path + "/" + what, body), status);
    }
  }

  private static JsonObject answer(HttpResponse<String> answer, int status) {
    assertThat(answer.statusCode()).as(answer.body()).isEqualTo(status);
    return new JsonObject(answer.body());
  }

  private static JsonObject leads(long term) {
    return new JsonObject().put("leads", true).put("term", term).put("handingOver", false);
  }

  private static JsonObject handsOver(long term) {
    return new JsonObject().put("leads", false).put("term", term).put("handingOver", true);
  }

  private static JsonObject waits() {
    return new JsonObject().put("leads", false).putNull("term").put("handingOver", false);
  }

  @Test
  void oneLeadsAndHandsOverToTheNext() {
    Caller a = Caller.named("nightly", "a");
    assertThat(a.watch("")).isEqualTo(leads(1));
    assertThat(a.watch("?waitMs=0&term=1")).isEqualTo(leads(1));
    Caller b = Caller.named("nightly", "b");
    assertThat(b.watch("?waitMs=0")).isEqualTo(waits());
    var newsOfA = a.ask("?term=1");
    var newsOfB = b.ask("");
    assertThat(a.tell("resign", 2, 409).getString("error")).isEqualTo("FENCED");
    a.tell("resign", 1, 200);
    assertThat(answer(newsOfA.join(), 200)).isEqualTo(handsOver(1));
    assertThat(a.watch("?waitMs=0&term=1&handingOver=true")).isEqualTo(handsOver(1));
    assertThat(newsOfB).as("the handover is awaited").isNotDone();
    JsonObject group = new JsonObject(node.read("/api/groups/nightly"));
    assertThat(group.getString("mode")).isEqualTo("singleton");
    assertThat(group.getString("status")).isEqualTo("OK");
    assertThat(group.getJsonObject("singleton").getString("leader")).isEqualTo("a");
    assertThat(a.tell("handed-over", 1, 200)).isEqualTo(waits());
    assertThat(answer(newsOfB.join(), 200)).isEqualTo(leads(2));
    assertThat(node.delete(b.path).statusCode()).isEqualTo(204);
    assertThat(a.watch("")).isEqualTo(leads(3));
    assertThat(node.get(b.path).statusCode()).isEqualTo(404);
    assertThat(node.delete(a.path).statusCode()).isEqualTo(204);
    assertThat(node.admin("group", "list").out()).contains("nightly");
    assertThat(node.admin("group", "describe", "nightly").out()).contains("singleton");
    assertThat(node.tryAdmin("group", "reset", "nightly", "--to", "earliest").err())
        .contains("reads no shard");
    node.admin("group", "pause", "nightly");
    node.admin("group", "resume", "nightly");
  }

  /** The connection of a request that waits has ended: the time until it expires begins. */
  @Test
  void whoGoesWhileARequestWaitsExpires() {
    Caller a = new Caller("left", new JsonObject().put("member", "a").put("expiresMs", 5_000));
    assertThat(a.watch("")).isEqualTo(leads(1));
    Caller b = Caller.named("left", "b");
    var news = a.ask("?term=1");
    var newsOfB = b.ask("");
    assertThat(news).isNotDone();
    news.cancel(true);
    // It comes while the first request of b may still wait, or with one of the next.
    JsonObject found = answer(newsOfB.join(), 200);
    while (!found.getBoolean("leads")) {
      found = b.watch("");
    }
    assertThat(found).isEqualTo(leads(2));
    assertThat(node.get(a.path).statusCode()).isEqualTo(404);
  }

  @Test
  void wrongRequestsAreRefused() {
    String all = "/api/elections/wrong/candidates";
    assertThat(node.post(all, "{\"expiresMs\":4999}").statusCode()).isEqualTo(400);
    assertThat(node.post(all, "{\"lockTimeMillis\":-1}").statusCode()).isEqualTo(400);
    assertThat(node.post(all, "{\"member\":\"-\"}").statusCode()).isEqualTo(400);
    assertThat(node.post(all, "{\"user\":\"shop\"}").statusCode()).isEqualTo(400);
    assertThat(node.post("/api/elections/-/candidates", "{}").statusCode()).isEqualTo(400);
    node.createTopic("orders", 1);
    String group = "{\"topics\":[\"orders\"]}";
    assertThat(node.post("/api/groups/readers/sessions", group).statusCode()).isEqualTo(201);
    var taken = node.post("/api/elections/readers/candidates", "{}");
    assertThat(taken.statusCode()).isEqualTo(409);
    assertThat(taken.body()).contains("GROUP_MISMATCH", "reads topics");
  }
}
