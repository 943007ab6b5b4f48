package dev.evenkeel.functional;

import static dev.evenkeel.Words.words;
import static org.assertj.core.api.Assertions.assertThat;

import dev.evenkeel.Evenkeel;
import dev.evenkeel.TestCertificates;
import dev.evenkeel.TestUsers;
import dev.evenkeel.Wait;
import dev.evenkeel.api.ApiAddresses;
import dev.evenkeel.bus.Addresses;
import dev.evenkeel.bus.Frames;
import dev.evenkeel.bus.Link;
import dev.evenkeel.bus.Op;
import dev.evenkeel.cli.CommandInJvm;
import dev.evenkeel.client.ClientOptions;
import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.RefusedException;
import dev.evenkeel.protocol.wire.Bytes;
import dev.evenkeel.util.tls.TlsFiles;
import dev.evenkeel.util.tls.TlsIdentity;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.io.IOException;
import java.io.StringWriter;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.WebSocket;
import java.net.http.WebSocketHandshakeException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** A node with TLS and users lets in those who belong, and each may do what it may. */
@Timeout(300)
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class UsersIT {
  private static final Path CLIENTS = TestCertificates.OURS.resolve("clients");
  private static final String CA = CLIENTS.resolve("ca.crt").toString();

  @TempDir static Path directory;
  private Path users;
  private Node node;
  private String url;
  private HttpClient http;

  @BeforeAll
  void start() throws Exception {
    users = directory.resolve("users.json");
    add("operator", "view:*,admin:*,consume:*,group:*");
    add("shop", "produce:orders,view:orders");
    add("billing", "consume:orders,group:billing");
    node =
        new Node(directory.resolve("node"))
            .with("--tls", CLIENTS.toString(), "--users", users.toString())
            .start();
    url = node.url().replace("http:", "https:");
    http =
        HttpClient.newBuilder()
            .sslContext(TlsIdentity.open(TlsFiles.trusting(Path.of(CA))).context())
            .build();
    for (String topic : List.of("orders", "secrets")) {
      JsonObject body = new JsonObject().put("name", topic).put("shards", 2);
      assertThat(send("operator", "POST", "/api/topics", body).statusCode()).isEqualTo(201);
    }
  }

  @AfterAll
  void stop() {
    node.process().close();
  }

  private void user(String... args) {
    StringWriter out = new StringWriter();
    StringWriter err = new StringWriter();
    assertThat(CommandInJvm.run(out, err, args)).as(err.toString()).isZero();
    lastOut = out.toString();
  }

  private String lastOut;

  /** Adds a user, or another token of one; the token goes into a file of that name. */
  private void add(String name, String may) throws IOException {
    user("user", "add", users.toString(), name, "--may", may);
    if (!lastOut.isBlank()) {
      Files.writeString(directory.resolve(name), lastOut);
    }
  }

  private String token(String user) throws IOException {
    return Files.readString(directory.resolve(user)).strip();
  }

  private HttpResponse<String> send(String user, String method, String path, JsonObject body)
      throws Exception {
    HttpRequest.Builder request =
        HttpRequest.newBuilder(URI.create(url + path))
            .method(
                method,
                body == null
                    ? HttpRequest.BodyPublishers.noBody()
                    : HttpRequest.BodyPublishers.ofString(body.encode()));
    if (body != null) {
      request.header("content-type", "application/json");
    }
    if (user != null) {
      request.header("authorization", "Bearer " + token(user));
    }
    return http.send(request.build(), HttpResponse.BodyHandlers.ofString());
  }

  private HttpResponse<String> get(String user, String path) throws Exception {
    return send(user, "GET", path, null);
  }

  private static void assertRefused(HttpResponse<String> answer, int status, String word) {
    assertThat(answer.statusCode()).as(answer.body()).isEqualTo(status);
    assertThat(new JsonObject(answer.body()).getString("error")).isEqualTo(word);
  }

  @Test
  void aSessionOverHttpBelongsToItsUser() throws Exception {
    String sessions = "/api/groups/billing/sessions";
    JsonObject orders = new JsonObject().put("topics", new JsonArray().add("orders"));
    JsonObject secrets = new JsonObject().put("topics", new JsonArray().add("secrets"));
    JsonObject all = new JsonObject().put("topics", new JsonArray().add("*"));
    assertRefused(send("shop", "POST", sessions, orders), 403, "FORBIDDEN");
    assertRefused(send("billing", "POST", "/api/groups/other/sessions", orders), 403, "FORBIDDEN");
    assertRefused(send("billing", "POST", sessions, secrets), 403, "FORBIDDEN");
    assertRefused(send("billing", "POST", sessions, all), 403, "FORBIDDEN");
    HttpResponse<String> opened = send("billing", "POST", sessions, orders);
    assertThat(opened.statusCode()).as(opened.body()).isEqualTo(201);
    String session = sessions + "/" + new JsonObject(opened.body()).getString("session");
    assertThat(get("billing", session + "/messages?waitMs=0").statusCode()).isEqualTo(200);
    // Whatever else they may.
    assertRefused(get("operator", session + "/messages?waitMs=0"), 403, "FORBIDDEN");
    assertRefused(send("operator", "DELETE", session, null), 403, "FORBIDDEN");
    assertRefused(get("shop", session + "/events"), 403, "FORBIDDEN");
    assertThat(send("billing", "DELETE", session, null).statusCode()).isEqualTo(204);
  }

  @Test
  void httpLetsInWhoBelongs() throws Exception {
    for (String path :
        List.of(words("/api/topics /api/cluster /metrics /ws/live /api/x /assets/../api/topics"))) {
      assertRefused(get(null, path), 401, "UNAUTHENTICATED");
    }
    for (String path : List.of("/", "/health/live", "/health/ready", "/openapi.json")) {
      assertThat(get(null, path).statusCode()).as(path).isEqualTo(200);
    }
    Files.writeString(directory.resolve("stranger"), "ek_00000000_" + "0".repeat(64));
    assertRefused(get("stranger", "/api/topics"), 401, "UNAUTHENTICATED");

    assertThat(get("operator", "/api/topics").body()).contains("orders", "secrets");
    assertThat(get("shop", "/api/topics").body()).contains("orders").doesNotContain("secrets");
    assertThat(get("billing", "/api/topics").body()).contains("orders").doesNotContain("secrets");
    assertRefused(get("shop", "/api/topics/secrets"), 403, "FORBIDDEN");
    assertRefused(get("shop", "/metrics"), 403, "FORBIDDEN");
    assertThat(get("operator", "/metrics").statusCode()).isEqualTo(200);
    assertRefused(send("shop", "DELETE", "/api/topics/orders", null), 403, "FORBIDDEN");
    JsonObject message = new JsonObject().put("payload", "p");
    String messages = "/api/topics/orders/messages";
    assertThat(send("shop", "POST", messages, message).statusCode()).isEqualTo(200);
    assertRefused(send("billing", "POST", messages, message), 403, "FORBIDDEN");
    assertRefused(get("shop", messages + "?shard=0"), 403, "FORBIDDEN");
    assertThat(get("billing", messages + "?shard=0").statusCode()).isEqualTo(200);
    JsonObject reset = new JsonObject().put("to", "earliest");
    assertRefused(send("billing", "POST", "/api/groups/billing/offsets", reset), 403, "FORBIDDEN");

    Path audit = node.directory.resolve("data/audit/audit.jsonl");
    Wait.untilAsserted(
        "the audit log",
        30,
        () ->
            assertThat(Files.readString(audit).lines())
                .anySatisfy(
                    line ->
                        assertThat(line)
                            .contains(
                                "\"user\":\"operator\"", "topics create", "\"outcome\":\"done\""))
                .anySatisfy(
                    line ->
                        assertThat(line)
                            .contains(
                                "\"user\":\"shop\"",
                                "topics delete name=orders",
                                "\"outcome\":\"denied\"",
                                "admin:orders"))
                .allSatisfy(line -> new JsonObject(line)));
    assertThat(Files.readString(audit)).doesNotContain(token("shop").substring(12));
    assertThat(Files.getPosixFilePermissions(audit.getParent())).hasSize(3);
  }

  /** What is sent at once is paid afterwards; then the next request is refused. */
  @Test
  void aUserHasAQuota() throws Exception {
    add("bulk", "produce:orders");
    String quota = "/api/quotas/principal/bulk";
    JsonObject limit = new JsonObject().put("messages", 5);
    Wait.until(
        "the feature level", () -> send("operator", "PUT", quota, limit).statusCode() == 200);
    assertRefused(send("shop", "PUT", quota, limit), 403, "FORBIDDEN");
    JsonObject message = new JsonObject().put("payload", "p");
    String messages = "/api/topics/orders/messages";
    HttpResponse<String> refused = null;
    for (int i = 0; i < 200 && refused == null; i++) {
      // Requests over the quota wait; several of them at once do not all find time.
      List<CompletableFuture<HttpResponse<String>>> sent = new ArrayList<>();
      for (int j = 0; j < 12; j++) {
        sent.add(
            http.sendAsync(
                request("bulk", messages, message), HttpResponse.BodyHandlers.ofString()));
      }
      for (CompletableFuture<HttpResponse<String>> each : sent) {
        HttpResponse<String> answer = each.get(60, TimeUnit.SECONDS);
        refused = answer.statusCode() == 429 ? answer : refused;
      }
    }
    assertThat(refused).as("a refusal").isNotNull();
    assertRefused(refused, 429, "OVERLOADED");
    assertThat(refused.headers().firstValue("retry-after")).isPresent();
    assertThat(refused.body()).contains("principal 'bulk'");
    assertThat(send("shop", "POST", messages, message).statusCode())
        .as("another user")
        .isEqualTo(200);
    assertThat(send("operator", "DELETE", quota, null).statusCode()).isEqualTo(200);
    assertThat(Files.readString(node.directory.resolve("data/audit/audit.jsonl")))
        .contains("quotas set kind=principal name=bulk");
  }

  private HttpRequest request(String user, String path, JsonObject body) throws IOException {
    return HttpRequest.newBuilder(URI.create(url + path))
        .POST(HttpRequest.BodyPublishers.ofString(body.encode()))
        .header("content-type", "application/json")
        .header("authorization", "Bearer " + token(user))
        .build();
  }

  private HttpResponse<String> logIn(String user) throws Exception {
    return send(null, "POST", "/api/session", new JsonObject().put("token", token(user)));
  }

  private static String cookie(HttpResponse<String> entered) {
    String cookie = entered.headers().firstValue("set-cookie").orElseThrow();
    return cookie.substring(0, cookie.indexOf(';'));
  }

  private HttpResponse<String> withCookie(String method, String path, String cookie)
      throws Exception {
    HttpRequest request =
        HttpRequest.newBuilder(URI.create(url + path))
            .method(method, HttpRequest.BodyPublishers.noBody())
            .header("cookie", cookie)
            .header("origin", url)
            .build();
    return http.send(request, HttpResponse.BodyHandlers.ofString());
  }

  @Test
  void aBrowserGetsACookieThatIsNoToken() throws Exception {
    HttpResponse<String> entered = logIn("shop");
    assertThat(entered.statusCode()).isEqualTo(200);
    assertThat(new JsonObject(entered.body()).getString("user")).isEqualTo("shop");
    assertThat(entered.headers().firstValue("strict-transport-security")).hasValue("max-age=86400");
    String set = entered.headers().firstValue("set-cookie").orElseThrow();
    assertThat(set)
        .startsWith("__Host-evenkeel-session=n1.")
        .contains("HTTPOnly", "Secure", "SameSite=Strict", "Path=/")
        .doesNotContain(token("shop").substring(12), "Max-Age", "Domain");
    String cookie = cookie(entered);
    assertThat(withCookie("GET", "/api/topics", cookie).body())
        .contains("orders")
        .doesNotContain("secrets");
    for (String other :
        List.of(
            cookie.replace("__Host-", ""),
            cookie.substring(0, cookie.length() - 2) + "xx",
            cookie.replace("n1.", "n2."),
            "__Host-evenkeel-session=" + token("shop"),
            "evenkeel-token=" + token("shop"))) {
      assertRefused(withCookie("GET", "/api/topics", other), 401, "UNAUTHENTICATED");
    }
    assertThat(cookie(logIn("shop"))).as("another log-in").isNotEqualTo(cookie);
    assertRefused(
        send(null, "POST", "/api/session", new JsonObject().put("token", "x")),
        401,
        "UNAUTHENTICATED");
    assertRefused(get(null, "/api/session"), 401, "UNAUTHENTICATED");
  }

  @Test
  void aLogInEndsAtTheNode() throws Exception {
    String cookie = cookie(logIn("shop"));
    HttpResponse<String> left = withCookie("DELETE", "/api/session", cookie);
    assertThat(left.statusCode()).isEqualTo(200);
    assertThat(left.headers().firstValue("set-cookie").orElseThrow())
        .startsWith("__Host-evenkeel-session=;")
        .contains("Max-Age=0");
    assertRefused(withCookie("GET", "/api/topics", cookie), 401, "UNAUTHENTICATED");

    add("visitor", "view:*");
    Wait.until("the user", () -> logIn("visitor").statusCode() == 200);
    String visiting = cookie(logIn("visitor"));
    assertThat(withCookie("GET", "/api/topics", visiting).statusCode()).isEqualTo(200);
    user("user", "remove", users.toString(), "visitor");
    Wait.until(
        "the end of the log-in",
        () -> withCookie("GET", "/api/topics", visiting).statusCode() == 401);
  }

  @Test
  void theLiveViewShowsWhatItsUserMaySee() throws Exception {
    assertThat(snapshot("operator")).contains("orders", "secrets");
    assertThat(snapshot("shop")).contains("orders").doesNotContain("secrets");
    try {
      snapshot("billing");
      throw new AssertionError("billing may view nothing");
    } catch (CompletionException e) {
      assertThat(((WebSocketHandshakeException) e.getCause()).getResponse().statusCode())
          .isEqualTo(403);
    }
  }

  /** The first snapshot that has a topic. */
  private String snapshot(String user) throws Exception {
    CompletableFuture<String> found = new CompletableFuture<>();
    StringBuilder text = new StringBuilder();
    WebSocket socket =
        http.newWebSocketBuilder()
            .header("authorization", "Bearer " + token(user))
            .buildAsync(
                URI.create(url.replace("https:", "wss:") + "/ws/live"),
                new WebSocket.Listener() {
                  @Override
                  public CompletionStage<?> onText(
                      WebSocket from, CharSequence data, boolean last) {
                    text.append(data);
                    if (last && text.indexOf("\"orders\"") >= 0) {
                      found.complete(text.toString());
                    }
                    from.request(1);
                    return null;
                  }
                })
            .join();
    try {
      return found.get(60, TimeUnit.SECONDS);
    } finally {
      socket.abort();
    }
  }

  private Jar.Running produce(String name, String user, String topic, String... more)
      throws Exception {
    Path lines = Lines.write(directory.resolve(name), 20, 5);
    String[] args = {"--ca", CA, "--token-file", directory.resolve(user).toString()};
    String[] all = new String[args.length + more.length];
    System.arraycopy(args, 0, all, 0, args.length);
    System.arraycopy(more, 0, all, args.length, more.length);
    return node.produce(name, lines, topic, all);
  }

  @Test
  void sessionsDoWhatTheirUsersMay() throws Exception {
    assertThat(produce("fine", "shop", "orders").await().status()).isZero();
    assertThat(produce("own", "shop", "orders", "--name", "shop-1").await().status()).isZero();
    Jar.Result other = produce("other", "shop", "orders", "--name", "billing").await();
    assertThat(other.status()).isEqualTo(1);
    assertThat(other.err()).contains("producer:billing");
    Jar.Result hidden = produce("hidden", "shop", "secrets").await();
    assertThat(hidden.status()).isEqualTo(1);
    Jar.Result wrong = produce("wrong", "billing", "orders").await();
    assertThat(wrong.status()).isEqualTo(1);
    assertThat(wrong.err()).contains("produce:orders");
    Files.writeString(directory.resolve("stranger"), "ek_00000000_" + "0".repeat(64));
    Jar.Result stranger = produce("unknown", "stranger", "orders").await();
    assertThat(stranger.status()).isEqualTo(1);
    assertThat(stranger.err()).contains("no user of the cluster has this token");

    String billing = directory.resolve("billing").toString();
    Jar.Result consumed =
        node.consume("c", "orders", "billing", "--ca", CA, "--token-file", billing, "--max", "40")
            .await();
    assertThat(consumed.status()).as(consumed.toString()).isZero();
    var group = node.consume("c", "orders", "others", "--ca", CA, "--token-file", billing).await();
    assertThat(group.status()).isEqualTo(1);
    assertThat(group.err()).contains("group:others");
  }

  @Test
  void aSessionSpeaksForItselfAndNotForNodes() throws Exception {
    add("spy", "consume:orders,group:billing");
    Link owner = link("billing");
    Link spy = link("spy");
    try {
      assertThat(heartbeat(owner, "run-1", owner.clusterMember())).isNull();
      assertThat(heartbeat(spy, "run-1", spy.clusterMember()).refusal())
          .isEqualTo(Refusal.FORBIDDEN);
      assertThat(heartbeat(spy, "run-2", owner.clusterMember()).refusal())
          .isEqualTo(Refusal.FORBIDDEN);
      for (Op op :
          List.of(
              Op.MANAGE_SHARDS,
              Op.READ_BODY,
              Op.READ_LOGS,
              Op.READ_GROUPS,
              Op.CREATE_TOPIC,
              Op.DELETE_TOPIC)) {
        assertThat(refusal(spy, Addresses.control("n1"), Frames.request(op, new Bytes().i32(0))))
            .as(op.name())
            .isEqualTo(Refusal.FORBIDDEN);
      }
      for (String address : List.of(Addresses.groups("n1"), Addresses.membership("n1"))) {
        assertThat(refusal(spy, address, Buffer.buffer("{}"))).isEqualTo(Refusal.FORBIDDEN);
      }
    } finally {
      owner.close();
      spy.close();
    }
  }

  private Link link(String user) throws Exception {
    Wait.until("the node knows the user", 30, () -> get(user, "/api/session").statusCode() == 200);
    return Evenkeel.link(
            new ClientOptions()
                .setSeeds(List.of(node.cluster()))
                .setCa(CA)
                .setTokenFile(directory.resolve(user).toString()))
        .toCompletionStage()
        .toCompletableFuture()
        .get(60, TimeUnit.SECONDS);
  }

  /** The refusal of a heartbeat; null: it was taken. */
  private static RefusedException heartbeat(Link link, String instance, String session)
      throws Exception {
    JsonObject beat =
        new JsonObject()
            .put("group", "billing")
            .put("member", "m")
            .put("instance", instance)
            .put("bornMillis", 1)
            .put("leaving", false)
            .put("topics", List.of("orders"))
            .put("mode", "sharded")
            .put("startKind", "EARLIEST")
            .put("startValue", 0)
            .put("clusterMember", session)
            .put("host", "here")
            .put("consumed", 0)
            .put("memberTimeoutMillis", 60_000)
            .put("lockTimeMillis", 1_000)
            // What a program says of its user does not count.
            .put("user", "billing");
    try {
      Buffer answer =
          link.request(Addresses.dispatcher("n1"), beat.toBuffer(), 10_000)
              .toCompletionStage()
              .toCompletableFuture()
              .get(60, TimeUnit.SECONDS);
      Frames.answerBody(answer);
      return null;
    } catch (ExecutionException e) {
      return RefusedException.of(e.getCause());
    } catch (RefusedException e) {
      return e;
    }
  }

  private static Refusal refusal(Link link, String address, Buffer request) throws Exception {
    try {
      Buffer answer =
          link.request(address, request, 10_000)
              .toCompletionStage()
              .toCompletableFuture()
              .get(60, TimeUnit.SECONDS);
      Frames.answerBody(answer);
      return null;
    } catch (ExecutionException e) {
      return RefusedException.of(e.getCause()).refusal();
    } catch (RefusedException e) {
      return e.refusal();
    }
  }

  @Test
  void aCertificateNamesAUserAndCommandsInheritNoToken() throws Exception {
    TestUsers.assumeNone("it has users of its own");
    user(
        "user",
        "add",
        users.toString(),
        "certified",
        "--certificate",
        "evenkeel",
        "--may",
        "produce:orders,consume:orders,group:c");
    String[] certificate = {
      "--ca", CA,
      "--cert", CLIENTS.resolve("tls.crt").toString(),
      "--cert-key", CLIENTS.resolve("tls.key").toString()
    };
    Path lines = Lines.write(directory.resolve("lines"), 3, 1);
    Wait.until(
        "the node knows the user",
        30,
        () -> node.produce("p", lines, "orders", certificate).await().status() == 0);
    Jar.Result consumed =
        Jar.startIn(
                new Surroundings(
                    List.of(),
                    Map.of(
                        "EVENKEEL_CA",
                        CA,
                        "EVENKEEL_TOKEN_FILE",
                        directory.resolve("operator").toString())),
                directory,
                "exec",
                Jar.USUAL_OPTIONS,
                words(
                    "consume orders --group e --max 1 --cluster %s --exec %s",
                    node.cluster(), "env > " + directory.resolve("seen")))
            .await();
    assertThat(consumed.status()).as(consumed.toString()).isZero();
    assertThat(Files.readString(directory.resolve("seen")))
        .contains("EVENKEEL_TOPIC=orders")
        .doesNotContain("TOKEN", "EVENKEEL_CA");
  }

  @Test
  void aNodeThatOthersCanReachNeedsTlsAndUsers() {
    Jar.Result refused =
        Jar.run(
            directory,
            words("serve --host 0.0.0.0 --public-host here --data %s", directory.resolve("d")));
    assertThat(refused.status()).isEqualTo(2);
    assertThat(refused.err()).contains("certs dev", "user add", "--insecure");
  }

  @Test
  void whatAUserMayChangesForOpenSessions() throws Exception {
    add("changing", "produce:orders");
    Link changing = link("changing");
    try {
      JsonObject question = new JsonObject().put("topic", "orders").put("payload", "p");
      assertThat(ask(changing, question)).isNull();
      add("changing", "produce:secrets");
      Wait.until("the permission is gone", 30, () -> ask(changing, question) == Refusal.FORBIDDEN);
      assertThat(ask(changing, question.copy().put("topic", "secrets"))).isNull();
      String former = Files.readString(users);
      Files.writeString(users, "{broken");
      Wait.until(
          "the file is known to be broken",
          30,
          () -> get("operator", "/metrics").body().contains("evenkeel_access_users_broken 1.0"));
      assertThat(ask(changing, question.copy().put("topic", "secrets"))).isNull();
      Files.writeString(users, former);
      user("user", "remove", users.toString(), "changing");
      Wait.until("the session ends", 30, () -> changing.state() == Link.State.LOST);
    } finally {
      changing.close();
    }
  }

  private static Refusal ask(Link link, JsonObject question) throws Exception {
    try {
      link.request(ApiAddresses.PRODUCE, question.toBuffer(), 10_000)
          .toCompletionStage()
          .toCompletableFuture()
          .get(60, TimeUnit.SECONDS);
      return null;
    } catch (ExecutionException e) {
      return RefusedException.of(e.getCause()).refusal();
    }
  }
}
