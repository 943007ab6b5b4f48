package dev.evenkeel.functional;

import static dev.evenkeel.Futures.await;
import static org.assertj.core.api.Assertions.assertThat;

import dev.evenkeel.Evenkeel;
import dev.evenkeel.Refused;
import dev.evenkeel.Wait;
import dev.evenkeel.api.ApiAddresses;
import dev.evenkeel.bus.Addresses;
import dev.evenkeel.bus.Frames;
import dev.evenkeel.bus.Link;
import dev.evenkeel.client.Candidate;
import dev.evenkeel.client.ClusterTrack;
import dev.evenkeel.client.DedupClaim;
import dev.evenkeel.client.EvenkeelClient;
import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.wire.Bytes;
import io.vertx.core.Future;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Elections, dedups and coordinators on a node with users: whoever has the permission for the name
 * may use it, and nobody else, whichever way they come.
 */
@Timeout(300)
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class ServicesUsersIT {
  /** May use what is called mine-…. */
  private static final String OWNER = "owner";

  /** May, too, but has opened nothing. */
  private static final String PEER = "peer";

  /** May use what has other names, and see everything. */
  private static final String STRANGER = "stranger";

  /** May do everything but join groups. */
  private static final String OPERATOR = "operator";

  /**
   * A service over HTTP.
   *
   * @param path below {@code /api}, with {@code %s} for the name
   * @param opens the body of the request that opens something
   * @param id the field of the answer that names what was opened
   * @param about requests about it: method, path after its own, and body if there is one
   */
  private record Service(
      String path, String opens, String id, String closes, List<List<String>> about) {
    String all(String name) {
      return "/api/" + path.formatted(name);
    }

    @Override
    public String toString() {
      return path;
    }
  }

  private static final List<Service> SERVICES =
      List.of(
          new Service(
              "elections/%s/candidates",
              "{\"member\":\"c\"}",
              "candidate",
              "204",
              List.of(
                  List.of("GET", "?waitMs=0"),
                  List.of("POST", "/resign", "{\"term\":1}"),
                  List.of("POST", "/handed-over", "{\"term\":1}"),
                  List.of("DELETE", ""))),
          new Service(
              "dedup/%s/claims",
              "{\"key\":\"k\"}",
              "claim",
              "200",
              List.of(List.of("GET", "?waitMs=0"), List.of("DELETE", ""))),
          new Service(
              "coordinators/%s/tracks",
              "{\"range\":10}",
              "track",
              "204",
              List.of(
                  List.of("POST", "/moves", "{\"steps\":1,\"waitMs\":0}"), List.of("DELETE", ""))));

  @TempDir static Path directory;
  private NodeWithUsers node;
  private HttpClient http;

  @BeforeAll
  void start() throws Exception {
    node =
        new NodeWithUsers(directory)
            .user(OWNER, "group:mine*")
            .user(PEER, "group:mine*")
            .user(STRANGER, "group:other*,view:*")
            .user(OPERATOR, "view:*,admin:*,consume:*,produce:*")
            .start();
    http = node.http();
    Wait.until(
        "the feature level of tracks",
        60,
        () -> post(OWNER, SERVICES.get(2).all("mine-first"), "{}").statusCode() == 201);
  }

  @AfterAll
  void stop() {
    node.close();
  }

  /**
   * @param user null: without a token
   * @param body null: none
   */
  private HttpResponse<String> send(String user, String method, String path, String body)
      throws Exception {
    HttpRequest.Builder request =
        HttpRequest.newBuilder(URI.create(node.url() + path))
            .method(
                method,
                body == null
                    ? HttpRequest.BodyPublishers.noBody()
                    : HttpRequest.BodyPublishers.ofString(body));
    if (body != null) {
      request.header("content-type", "application/json");
    }
    if (user != null) {
      String token = node.token(user);
      request.header("authorization", "Bearer " + token);
    }
    return http.send(request.build(), HttpResponse.BodyHandlers.ofString());
  }

  private HttpResponse<String> post(String user, String path, String body) throws Exception {
    return send(user, "POST", path, body);
  }

  private HttpResponse<String> about(String user, String opened, List<String> request)
      throws Exception {
    return send(
        user, request.get(0), opened + request.get(1), request.size() == 3 ? request.get(2) : null);
  }

  private static void refused(
      HttpResponse<String> answer, int status, Refusal refusal, String text) {
    assertThat(answer.statusCode()).as(answer.uri() + ": " + answer.body()).isEqualTo(status);
    assertThat(new JsonObject(answer.body()).getString("error")).isEqualTo(refusal.name());
    assertThat(answer.body()).contains(text);
  }

  @Test
  void overHttpOnlyWhoMayAndHasOpenedItMayUseIt() throws Exception {
    for (Service service : SERVICES) {
      String all = service.all("mine-http");
      for (String user : List.of(STRANGER, OPERATOR)) {
        refused(post(user, all, service.opens()), 403, Refusal.FORBIDDEN, "group:mine-http");
      }
      refused(post(null, all, service.opens()), 401, Refusal.UNAUTHENTICATED, "");
      HttpResponse<String> answer = post(OWNER, all, service.opens());
      assertThat(answer.statusCode()).as(answer.body()).isEqualTo(201);
      String id = new JsonObject(answer.body()).getString(service.id());
      for (List<String> request : service.about()) {
        String opened = all + "/" + id;
        for (String user : List.of(STRANGER, OPERATOR)) {
          refused(about(user, opened, request), 403, Refusal.FORBIDDEN, "group:mine-http");
        }
        refused(about(PEER, opened, request), 403, Refusal.FORBIDDEN, "belongs to another user");
        refused(about(null, opened, request), 401, Refusal.UNAUTHENTICATED, "");
        // Under a name for which the stranger has the permission.
        String elsewhere = service.all("other-http") + "/" + id;
        refused(about(STRANGER, elsewhere, request), 404, Refusal.UNKNOWN_SESSION, "");
      }
      for (List<String> request : service.about()) {
        HttpResponse<String> done = about(OWNER, all + "/" + id, request);
        String expected = request.get(0).equals("DELETE") ? service.closes() : "200";
        assertThat(String.valueOf(done.statusCode()))
            .as(request + ": " + done.body())
            .isIn(expected, service.id().equals("candidate") ? "409" : expected);
      }
    }
  }

  /** The permission is asked for by the name in the path. */
  @Test
  void noBodyNamesAnotherServiceOrAnotherUser() throws Exception {
    for (Service service : SERVICES) {
      String all = service.all("other-body");
      String field = List.of("election", "dedup", "coordinator").get(SERVICES.indexOf(service));
      for (JsonObject more :
          List.of(
              new JsonObject().put(field, "mine-body"),
              new JsonObject().put("user", OWNER),
              new JsonObject().put("action", "open"))) {
        String body = new JsonObject(service.opens()).mergeIn(more).encode();
        refused(post(STRANGER, all, body), 400, Refusal.INVALID, "");
        refused(post(STRANGER, all + "?user=" + OWNER, service.opens()), 400, Refusal.INVALID, "");
      }
    }
  }

  @Test
  void aSessionMayUseWhatItsUserMay() {
    for (String user : List.of(STRANGER, OPERATOR)) {
      EvenkeelClient client = await(Evenkeel.connect(node.options(user)));
      try {
        String missing = "group:mine-session";
        Refused.with(Refusal.FORBIDDEN, () -> stand(client), missing);
        Refused.with(Refusal.FORBIDDEN, () -> claim(client), "group:");
        Refused.with(Refusal.FORBIDDEN, () -> track(client), missing);
      } finally {
        await(client.close());
      }
    }
    EvenkeelClient client = await(Evenkeel.connect(node.options(OWNER)));
    try {
      Candidate candidate = stand(client);
      Wait.until("it leads", candidate::isLeading);
      assertThat(claim(client).isHeld()).isTrue();
      assertThat(track(client).isLost()).isFalse();
    } finally {
      await(client.close());
    }
  }

  private static Candidate stand(EvenkeelClient client) {
    return await(client.election("mine-session", context -> Future.succeededFuture()));
  }

  private static DedupClaim claim(EvenkeelClient client) {
    return await(client.dedup("mine-session-keys").claim("k")).orElseThrow();
  }

  private static ClusterTrack track(EvenkeelClient client) {
    return await(client.coordinator("mine-session-walk", 10).track("t"));
  }

  private static JsonObject heartbeat(Link link, String group, String mode) {
    return new JsonObject()
        .put("group", group)
        .put("member", "m")
        .put("instance", "run-of-" + group)
        .put("bornMillis", 1)
        .put("leaving", false)
        .put("topics", new JsonArray())
        .put("mode", mode)
        .put("startKind", "EARLIEST")
        .put("startValue", 0)
        .put("clusterMember", link.clusterMember())
        .put("host", "here")
        .put("consumed", 0)
        .put("memberTimeoutMillis", 5_000)
        .put("lockTimeMillis", 1_000)
        // What a program says of its user does not count.
        .put("user", OWNER);
  }

  private static void ask(Link link, String address, Buffer request) {
    Frames.answerBody(await(link.request(address, request, 10_000)));
  }

  /** What a program could send that does not use the library. */
  @Test
  void requestsOfASessionAreCheckedOneByOne() {
    String dispatcher = Addresses.dispatcher("n1");
    Link owner = await(Evenkeel.link(node.options(OWNER)));
    Link stranger = await(Evenkeel.link(node.options(STRANGER)));
    Link operator = await(Evenkeel.link(node.options(OPERATOR)));
    try {
      Buffer mine = heartbeat(owner, "mine-raw", "singleton").toBuffer();
      ask(owner, dispatcher, mine);
      for (Link link : List.of(stranger, operator)) {
        for (String mode : List.of("singleton", "sharded", "level")) {
          Buffer beat = heartbeat(link, "mine-raw", mode).toBuffer();
          Refused.with(Refusal.FORBIDDEN, () -> ask(link, dispatcher, beat), "group:mine-raw");
        }
        Buffer heard =
            Buffer.buffer(new Bytes().text(link.clusterMember()).text("mine-raw-keys").toArray());
        Refused.with(
            Refusal.FORBIDDEN,
            () -> ask(link, Addresses.DEDUP_HEARD, heard),
            "group:mine-raw-keys");
        Refused.with(Refusal.FORBIDDEN, () -> ask(link, dispatcher, mine));
      }
      Buffer steps = Buffer.buffer(new Bytes().text(operator.clusterMember()).toArray());
      Refused.with(
          Refusal.FORBIDDEN, () -> ask(operator, Addresses.DEDUP_STEPS, steps), "group:NAME");
      // These would not say who asks.
      for (Link link : List.of(owner, stranger, operator)) {
        for (String address :
            List.of(ApiAddresses.ELECTIONS, ApiAddresses.DEDUP, ApiAddresses.COORDINATORS)) {
          Refused.with(
              Refusal.INVALID,
              () -> ask(link, address, Buffer.buffer("{\"action\":\"open\"}")),
              "cannot send requests to");
        }
      }
    } finally {
      owner.close();
      stranger.close();
      operator.close();
    }
  }
}
