package dev.evenkeel.functional;

import static dev.evenkeel.Futures.await;
import static dev.evenkeel.Words.words;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.evenkeel.Evenkeel;
import dev.evenkeel.Refused;
import dev.evenkeel.TestUsers;
import dev.evenkeel.Wait;
import dev.evenkeel.cli.CommandInJvm;
import dev.evenkeel.client.ClientOptions;
import dev.evenkeel.client.ConnectionState;
import dev.evenkeel.client.Consumer;
import dev.evenkeel.client.ConsumerOptions;
import dev.evenkeel.client.EvenkeelClient;
import dev.evenkeel.client.Producer;
import dev.evenkeel.client.ProducerOptions;
import dev.evenkeel.gateway.access.oidc.TestIssuer;
import dev.evenkeel.protocol.Refusal;
import io.vertx.core.Future;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.io.IOException;
import java.io.StringWriter;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Instant;
import java.util.Date;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The users of an identity provider do with its tokens what the rules allow. */
@Timeout(300)
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class OidcIT {
  /** For a token that a sidecar renews. */
  private static final int SHORT_SECONDS = 3;

  @TempDir static Path directory;
  private final HttpClient http = HttpClient.newHttpClient();
  private TestIssuer issuer;
  private Node node;

  @BeforeAll
  void start() throws Exception {
    issuer = new TestIssuer();
    JsonObject settings =
        issuer.settings(
            TestIssuer.rule("groups", "ops", "admin:*", "view:*"),
            TestIssuer.rule("groups", "shop", "produce:orders"),
            TestIssuer.rule("realm_access.roles", "billing", "consume:orders", "group:billing"));
    Path file = Files.writeString(directory.resolve("oidc.json"), settings.encode());
    Path users = directory.resolve("users.json");
    Files.writeString(directory.resolve("robot"), add(users, "robot"));
    Files.writeString(directory.resolve("impostor"), add(users, "oidc.alice"));
    node =
        new Node(directory.resolve("node"))
            .with("--oidc", file.toString(), "--users", users.toString())
            .start();
    assertThat(
            send("POST", "/api/topics", issuer.token("admin", "ops"), topic("orders")).statusCode())
        .isEqualTo(201);
  }

  @AfterAll
  void stop() {
    node.process().close();
    issuer.close();
  }

  private static JsonObject topic(String name) {
    return new JsonObject().put("name", name).put("shards", 2);
  }

  private static String add(Path users, String name) {
    StringWriter out = new StringWriter();
    StringWriter err = new StringWriter();
    assertThat(CommandInJvm.run(out, err, "user", "add", users.toString(), name, "--may", "view:*"))
        .as(err.toString())
        .isZero();
    return out.toString().strip();
  }

  private HttpResponse<String> send(String method, String path, String token, JsonObject body)
      throws Exception {
    HttpRequest.Builder request =
        HttpRequest.newBuilder(URI.create(node.url() + path))
            .header("content-type", "application/json")
            .method(
                method,
                body == null
                    ? HttpRequest.BodyPublishers.noBody()
                    : HttpRequest.BodyPublishers.ofString(body.encode()));
    if (token != null) {
      request.header("authorization", "Bearer " + token);
    }
    return http.send(request.build(), HttpResponse.BodyHandlers.ofString());
  }

  private void assertUnauthenticated(String token, String... words) throws Exception {
    HttpResponse<String> answer = send("GET", "/api/topics", token, null);
    assertThat(answer.statusCode()).as(answer.body()).isEqualTo(401);
    assertThat(answer.headers().firstValue("www-authenticate")).hasValue("Bearer");
    assertThat(new JsonObject(answer.body()).getString("message")).contains(words);
  }

  private Path write(String name, String token) throws IOException {
    Path next = Files.writeString(directory.resolve(name + ".next"), token + "\n");
    return Files.move(
        next,
        directory.resolve(name),
        StandardCopyOption.ATOMIC_MOVE,
        StandardCopyOption.REPLACE_EXISTING);
  }

  private Future<EvenkeelClient> connect(Path tokenFile) {
    return Evenkeel.connect(
        new ClientOptions().setSeeds(List.of(node.cluster())).setTokenFile(tokenFile.toString()));
  }

  @Test
  void overHttpATokenAllowsWhatItsClaimsSay() throws Exception {
    String shop = issuer.token("carol@example.com", "shop", "other");
    assertThat(new JsonObject(send("GET", "/api/session", shop, null).body()))
        .isEqualTo(
            new JsonObject()
                .put("user", "oidc.carol_40example.com")
                .put("may", JsonArray.of("produce:orders")));
    JsonObject message = new JsonObject().put("payload", "p");
    assertThat(send("POST", "/api/topics/orders/messages", shop, message).statusCode())
        .isEqualTo(200);
    HttpResponse<String> refused = send("DELETE", "/api/topics/orders", shop, null);
    assertThat(refused.statusCode()).isEqualTo(403);
    assertThat(refused.body()).contains("oidc.carol_40example.com", "admin:orders");
    Path audit = node.directory.resolve("data/audit/audit.jsonl");
    Wait.untilAsserted(
        () ->
            assertThat(Files.readString(audit))
                .contains("\"user\":\"oidc.carol_40example.com\"")
                .doesNotContain(shop));
    assertThat(send("GET", "/api/topics", token("robot"), null).statusCode()).isEqualTo(200);
  }

  private String token(String file) throws IOException {
    return Files.readString(directory.resolve(file)).strip();
  }

  @Test
  void otherTokensAreRefused() throws Exception {
    String good = issuer.token("eve", "ops");
    assertUnauthenticated(good.substring(0, good.length() - 8) + "AAAAAAAA", "signature");
    assertUnauthenticated(issuer.token("eve", "nobody"), "'oidc.eve' no permission");
    assertUnauthenticated(
        issuer.sign(issuer.claims("eve", "ops").audience("other")), "not for this cluster");
    assertUnauthenticated(
        issuer.sign(issuer.claims("eve", "ops").expirationTime(new Date(0))), "expired at 1970");
    assertUnauthenticated(
        issuer.sign(issuer.claims("eve", "ops").issuer("https://evil.example")), "issuer");
    assertUnauthenticated("a.b.c", "no signed JWT");
    assertUnauthenticated(good + "." + good, "no user of the cluster has this token");
    // Names of users of the file that look like those of others.
    assertUnauthenticated(token("impostor"), "oidc.alice");
    HttpResponse<String> tooLong =
        send("GET", "/api/topics", issuer.sign(issuer.claims("e", "x".repeat(30_000))), null);
    assertThat(tooLong.statusCode()).isEqualTo(431);
    String long9k = issuer.sign(issuer.claims("admin", "ops").claim("more", "x".repeat(6_700)));
    assertThat(long9k.length()).isBetween(9_000, 12_000);
    assertThat(send("GET", "/api/topics", long9k, null).statusCode()).isEqualTo(200);
  }

  @Test
  void commandsAndClientsShowTokensOfTheIssuer() throws Exception {
    TestUsers.assumeNone("it has users of its own");
    Path ops = write("ops", issuer.token("admin", "ops", "shop"));
    assertThat(node.tryAdmin(words("topic create more --shards 1 --token-file %s", ops)).status())
        .isZero();
    Path lines = Lines.write(directory.resolve("lines"), 20, 5);
    Jar.Result produced =
        node.produce("lines.log", lines, "orders", "--token-file", ops.toString()).await();
    assertThat(produced.status()).as(produced.toString()).isZero();
    Path nobody = write("nobody", issuer.token("eve", "none"));
    Refused.with(Refusal.UNAUTHENTICATED, () -> await(connect(nobody)), "'oidc.eve' no permission");
    Path evil = write("evil", issuer.sign(issuer.claims("eve", "ops").audience("x")));
    Refused.with(Refusal.UNAUTHENTICATED, () -> await(connect(evil)));
  }

  private double metric(String line) throws Exception {
    String ops = issuer.token("admin", "ops");
    String metrics = send("GET", "/metrics", ops, null).body();
    return metrics
        .lines()
        .filter(each -> each.startsWith(line + " "))
        .mapToDouble(each -> Double.parseDouble(each.substring(line.length() + 1)))
        .findFirst()
        .orElseThrow(() -> new AssertionError(line + " is not among " + metrics));
  }

  private String shortToken(String subject) throws Exception {
    return issuer.sign(
        issuer
            .claims(subject, "shop")
            .claim("realm_access", Map.of("roles", List.of("billing")))
            .expirationTime(Date.from(Instant.now().plusSeconds(SHORT_SECONDS))));
  }

  /** A producer and a consumer go on over several tokens, each of which ends their connections. */
  @Test
  void whoRenewsTheTokenFileGoesOn() throws Exception {
    Path file = write("renewed", shortToken("renewed"));
    ScheduledExecutorService sidecar = Executors.newSingleThreadScheduledExecutor();
    sidecar.scheduleAtFixedRate(
        () -> {
          try {
            write("renewed", shortToken("renewed"));
          } catch (Exception e) {
            throw new IllegalStateException(e);
          }
        },
        1,
        1,
        TimeUnit.SECONDS);
    String closed = "evenkeel_session_closed_total{reason=\"unauthenticated\"}";
    double before = metric(closed);
    EvenkeelClient client = await(connect(file));
    try {
      Set<String> seen = ConcurrentHashMap.newKeySet();
      Consumer consumer =
          await(
              client.consumer(
                  new ConsumerOptions().setGroup("billing").setTopics(List.of("orders")),
                  message -> {
                    seen.add(new String(message.message().payload(), UTF_8));
                    return Future.succeededFuture();
                  }));
      Producer producer = await(client.producer(new ProducerOptions().setTopic("orders")));
      AtomicLong sent = new AtomicLong();
      Wait.until(
          "three ends of a connection",
          120,
          () -> {
            String payload = "renewed-" + sent.get();
            await(producer.send(null, payload.getBytes(UTF_8)));
            sent.incrementAndGet();
            return metric(closed) >= before + 3;
          });
      Wait.untilAsserted(
          () -> {
            for (long i = 0; i < sent.get(); i++) {
              assertThat(seen).contains("renewed-" + i);
            }
          });
      await(producer.close());
      await(consumer.close());
    } finally {
      sidecar.shutdownNow();
      await(client.close());
    }
  }

  @Test
  void aConnectionEndsWithItsToken() throws Exception {
    Path file = write("short", shortToken("short"));
    Instant end = Instant.now().plusSeconds(SHORT_SECONDS);
    EvenkeelClient client = await(connect(file));
    try {
      Producer producer = await(client.producer(new ProducerOptions().setTopic("orders")));
      await(producer.send(null, "before".getBytes(UTF_8)));
      Wait.until("the end", () -> client.state() != ConnectionState.CONNECTED);
      assertThat(Instant.now()).isAfter(end.minusSeconds(2));
      // A token that has expired does not bring it back; the next one does.
      Refused.with(Refusal.UNAUTHENTICATED, () -> await(connect(file)), "expired at");
      write("short", issuer.token("short", "shop"));
      Wait.until("the way back", () -> client.state() == ConnectionState.CONNECTED);
      await(producer.send(null, "after".getBytes(UTF_8)));
      await(producer.close());
    } finally {
      await(client.close());
    }
  }

  @Test
  void aBrowserLogsInWithATokenOfTheIssuer() throws Exception {
    JsonObject token = new JsonObject().put("token", shortToken("browser"));
    HttpResponse<String> entered = send("POST", "/api/session", null, token);
    assertThat(entered.statusCode()).as(entered.body()).isEqualTo(200);
    String set = entered.headers().firstValue("set-cookie").orElseThrow();
    HttpRequest request =
        HttpRequest.newBuilder(URI.create(node.url() + "/api/topics"))
            .header("cookie", set.substring(0, set.indexOf(';')))
            .build();
    assertThat(http.send(request, HttpResponse.BodyHandlers.ofString()).statusCode())
        .isEqualTo(200);
    Wait.until(
        "the end of the token",
        () -> http.send(request, HttpResponse.BodyHandlers.ofString()).statusCode() == 401);
  }

  @Test
  void theNodeStartsWithoutItsIssuer() throws Exception {
    try (TestIssuer absent = new TestIssuer()) {
      absent.status = 503;
      Path file =
          Files.writeString(
              directory.resolve("absent.json"),
              absent.settings(TestIssuer.rule("groups", "ops", "view:*")).encode());
      try (Node other =
          new Node(directory.resolve("other")).with("--oidc", file.toString()).start()) {
        HttpRequest request =
            HttpRequest.newBuilder(URI.create(other.url() + "/api/topics"))
                .header("authorization", "Bearer " + absent.token("alice", "ops"))
                .build();
        HttpResponse<String> refused = http.send(request, HttpResponse.BodyHandlers.ofString());
        assertThat(refused.statusCode()).as(refused.body()).isEqualTo(503);
        assertThat(refused.headers().firstValue("retry-after")).isPresent();
        absent.status = 200;
        Wait.until(
            "the keys",
            () -> http.send(request, HttpResponse.BodyHandlers.ofString()).statusCode() == 200);
        HttpRequest without =
            HttpRequest.newBuilder(URI.create(other.url() + "/api/topics")).build();
        assertThat(http.send(without, HttpResponse.BodyHandlers.ofString()).statusCode())
            .as("a node with an issuer alone has users")
            .isEqualTo(401);
      }
    }
  }
}
