package dev.evenkeel.functional;

import static dev.evenkeel.Futures.await;
import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.evenkeel.Evenkeel;
import dev.evenkeel.TestCertificates;
import dev.evenkeel.Wait;
import dev.evenkeel.bus.Link;
import dev.evenkeel.cli.CommandInJvm;
import dev.evenkeel.client.ClientOptions;
import dev.evenkeel.client.EvenkeelClient;
import dev.evenkeel.client.Producer;
import dev.evenkeel.client.ProducerOptions;
import dev.evenkeel.protocol.wire.FeatureLevel;
import dev.evenkeel.util.tls.TlsFiles;
import dev.evenkeel.util.tls.TlsIdentity;
import io.vertx.core.Future;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.io.StringWriter;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Users that the cluster keeps count on each of its nodes, and nobody copies a file. */
@Timeout(400)
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class KeptUsersIT {
  private static final Path CLIENTS = TestCertificates.OURS.resolve("clients");
  private static final String CA = CLIENTS.resolve("ca.crt").toString();

  @TempDir static Path directory;
  private Trio trio;
  private HttpClient http;

  @BeforeAll
  void start() throws Exception {
    Path users = directory.resolve("users.json");
    for (String[] user :
        new String[][] {
          {"root", "produce:*,consume:*,group:*,view:*,admin:*,producer:*"},
          {"helper", "view:*,admin:*"},
          {"nobody", "view:zzz"}
        }) {
      save(user[0], run(0, "add", users.toString(), user[0], "--may", user[1]));
    }
    trio =
        new Trio(directory, "--tls", CLIENTS.toString(), "--users", users.toString())
            .withCertificates()
            .start();
    http =
        HttpClient.newBuilder()
            .sslContext(TlsIdentity.open(TlsFiles.trusting(Path.of(CA))).context())
            .build();
    JsonObject topic = new JsonObject().put("name", "orders").put("shards", 3);
    assertThat(send(1, "root", "POST", "/api/topics", topic).statusCode()).isEqualTo(201);
    Wait.until(
        "the feature level of users",
        () ->
            new JsonObject(send(1, "root", "GET", "/api/cluster", null).body())
                    .getInteger("featureLevel")
                >= FeatureLevel.USERS);
  }

  @AfterAll
  void stop() {
    trio.close();
  }

  private static String run(int status, String... args) {
    StringWriter out = new StringWriter();
    StringWriter err = new StringWriter();
    String[] all = Stream.concat(Stream.of("user"), Stream.of(args)).toArray(String[]::new);
    assertThat(CommandInJvm.run(out, err, all)).as("%s", err).isEqualTo(status);
    return status == 0 ? out.toString() : err.toString();
  }

  /** Runs the command against a node, as a user. */
  private String kept(int status, int node, String as, String... args) {
    return run(
        status,
        Stream.concat(
                Stream.of(args),
                Stream.of("--http", url(node), "--ca", CA, "--token-file", file(as).toString()))
            .toArray(String[]::new));
  }

  private String url(int node) {
    return trio.node(node).url().replace("http:", "https:");
  }

  /** With the token of a user, or of the program that has this name here. */
  private static Path file(String user) {
    return directory.resolve(user + ".token");
  }

  /** As people replace a file. */
  private static void save(String user, String token) throws Exception {
    Path made = Files.writeString(directory.resolve(user + ".new"), token);
    Files.move(made, file(user), StandardCopyOption.ATOMIC_MOVE);
  }

  private static String token(String user) throws Exception {
    return Files.readString(file(user)).strip();
  }

  private static String id(String user) throws Exception {
    return token(user).split("_")[1];
  }

  private HttpResponse<String> send(
      int node, String user, String method, String path, JsonObject body) throws Exception {
    HttpRequest.Builder request =
        HttpRequest.newBuilder(URI.create(url(node) + path))
            .header("authorization", "Bearer " + token(user))
            .method(
                method,
                body == null
                    ? HttpRequest.BodyPublishers.noBody()
                    : HttpRequest.BodyPublishers.ofString(body.encode()));
    if (body != null) {
      request.header("content-type", "application/json");
    }
    return http.send(request.build(), HttpResponse.BodyHandlers.ofString());
  }

  private void untilEachNodeAnswers(String user, int status) {
    for (int node = 1; node <= 3; node++) {
      int each = node;
      Wait.until(
          "node %s answers %s with %s".formatted(node, user, status),
          () -> send(each, user, "GET", "/api/session", null).statusCode() == status);
    }
  }

  private ClientOptions options(String user, int... nodes) {
    List<String> seeds = new ArrayList<>();
    for (int node : nodes) {
      seeds.add(trio.node(node).cluster());
    }
    return new ClientOptions().setSeeds(seeds).setCa(CA).setTokenFile(file(user).toString());
  }

  @Test
  void aUserComesAndGoesOnEveryNode() throws Exception {
    save("shop", kept(0, 1, "root", "add", "shop", "--may", "produce:orders"));
    untilEachNodeAnswers("shop", 200);
    assertThat(kept(0, 2, "root", "list"))
        .containsPattern("root +[0-9a-f]{8} .* file\n")
        .containsPattern("shop +" + id("shop") + " .* produce:orders +cluster\n");
    List<Link> links = new ArrayList<>();
    for (int node = 1; node <= 3; node++) {
      links.add(await(Evenkeel.link(options("shop", node))));
    }
    assertThat(kept(0, 2, "root", "add", "shop", "--may", "view:orders")).isEmpty();
    Wait.until(
        "node 3 knows the new permissions",
        () -> send(3, "shop", "GET", "/api/session", null).body().contains("[\"view:orders\"]"));
    kept(0, 3, "root", "remove", "shop");
    untilEachNodeAnswers("shop", 401);
    for (Link link : links) {
      Wait.until("the session has ended", () -> link.state() == Link.State.LOST);
      link.close();
    }
    assertThat(kept(1, 1, "root", "remove", "shop")).contains("the cluster keeps no user 'shop'");
  }

  @Test
  void aNodeKnowsTheUsersAfterARestart() throws Exception {
    save("lasting", kept(0, 1, "root", "add", "lasting", "--may", "view:orders", "--share", "2"));
    untilEachNodeAnswers("lasting", 200);
    trio.node(3).stop();
    save("later", kept(0, 1, "root", "add", "later", "--may", "view:orders"));
    kept(0, 1, "root", "remove", "lasting");
    trio.node(3).start();
    untilEachNodeAnswers("later", 200);
    untilEachNodeAnswers("lasting", 401);
  }

  @Test
  void aTokenExpiresAndSaysSo() throws Exception {
    save("brief", kept(0, 1, "root", "add", "brief", "--may", "view:*", "--expires", "40s"));
    untilEachNodeAnswers("brief", 200);
    Link link = await(Evenkeel.link(options("brief", 1, 2, 3)));
    assertThat(send(2, "brief", "GET", "/metrics", null).body())
        .containsPattern("evenkeel_access_users_expires_seconds [1-9]");
    untilEachNodeAnswers("brief", 401);
    assertThat(send(3, "brief", "GET", "/api/topics", null).body())
        .contains("this token expired on 20", ": ask for another one");
    Wait.until("the session has ended", () -> link.state() == Link.State.LOST);
    link.close();
    assertThat(kept(0, 1, "root", "list")).contains(id("brief") + " (expired 20");
    save("brief", kept(0, 2, "root", "token", "brief", "--expires", "1h"));
    untilEachNodeAnswers("brief", 200);
  }

  /** The client reads its token file at each connection. */
  @Test
  void aTokenIsChangedWithoutAPause() throws Exception {
    save("pay", kept(0, 1, "root", "add", "pay", "--may", "produce:orders"));
    Files.copy(file("pay"), file("former"));
    untilEachNodeAnswers("pay", 200);
    EvenkeelClient client = await(Evenkeel.connect(options("pay", 1, 2, 3)));
    Producer producer = await(client.producer(new ProducerOptions().setTopic("orders")));
    AtomicBoolean goesOn = new AtomicBoolean(true);
    List<Future<?>> sent = new CopyOnWriteArrayList<>();
    Thread sender =
        new Thread(
            () -> {
              while (goesOn.get()) {
                Future<?> next = producer.send(null, ("m" + sent.size()).getBytes(UTF_8));
                sent.add(next);
                await(next.otherwiseEmpty());
              }
            });
    sender.start();
    Wait.until("messages are sent", () -> sent.size() > 100);
    Link former = await(Evenkeel.link(options("former", 1)));

    save("pay", kept(0, 2, "root", "token", "pay", "--expires", "90d"));
    assertThat(id("pay")).isNotEqualTo(id("former"));
    untilEachNodeAnswers("pay", 200);
    untilEachNodeAnswers("former", 200);
    kept(0, 2, "root", "remove", "pay", "--token", id("former"));
    untilEachNodeAnswers("former", 401);
    Wait.until("sessions with the former token end", () -> former.state() == Link.State.LOST);
    former.close();
    int then = sent.size();
    Wait.until("it goes on", () -> sent.size() > then + 1_000);
    goesOn.set(false);
    sender.join();
    await(Future.all(sent));
    await(client.close());
    assertThat(trio.node(1).tryAdmin("topic", "list").status()).as("no token").isEqualTo(1);
  }

  @Test
  void nobodyGetsMoreThanItHas() throws Exception {
    save("bank", kept(0, 1, "root", "add", "bank", "--may", "produce:orders"));
    untilEachNodeAnswers("bank", 200);
    for (String[] request :
        new String[][] {
          {"GET", "/api/users"},
          {"PUT", "/api/users/nobody2"},
          {"DELETE", "/api/users/bank"},
          {"POST", "/api/users/bank/tokens"},
          {"DELETE", "/api/users/bank/tokens/" + id("bank")}
        }) {
      for (String user : List.of("nobody", "bank")) {
        JsonObject body =
            request[0].equals("PUT") ? new JsonObject().put("may", new JsonArray()) : null;
        HttpResponse<String> answer = send(1, user, request[0], request[1], body);
        assertThat(answer.statusCode()).as("%s %s", user, request[1]).isEqualTo(403);
        assertThat(answer.body()).contains("admin:");
      }
    }
    // Who administers the cluster has no way to its messages.
    for (String[] attempt :
        new String[][] {
          {"add", "mine", "--may", "consume:orders"},
          {"add", "mine", "--may", "view:*,produce:orders"},
          {"add", "bank", "--may", "view:orders"},
          {"add", "bank", "--certificate", "mine"},
          {"add", "bank"},
          {"token", "bank"},
        }) {
      assertThat(kept(1, 2, "helper", attempt))
          .contains("the user 'helper' needs the permission ", " itself to give it to ");
    }
    // A user of that name is in the file, and counts.
    kept(0, 2, "helper", "add", "nobody", "--may", "view:*");
    assertThat(kept(0, 2, "helper", "list")).contains("hidden by the file");
    kept(0, 2, "helper", "remove", "nobody");
    save("viewer", kept(0, 2, "helper", "add", "viewer", "--may", "view:orders"));
    untilEachNodeAnswers("viewer", 200);
    kept(0, 2, "helper", "remove", "bank", "--token", id("bank"));
    untilEachNodeAnswers("bank", 401);
    kept(0, 2, "helper", "remove", "bank");

    Path audit = trio.node(2).directory.resolve("data/audit/audit.jsonl");
    Wait.untilAsserted(
        "the audit log",
        30,
        () ->
            assertThat(Files.readString(audit))
                .contains(
                    "users put name=viewer may=[\\\"view:orders\\\"]",
                    "users add-token name=viewer",
                    "users remove-token name=bank id=" + id("bank"),
                    "\"outcome\":\"failed\",\"reason\":"));
    for (String user : List.of("bank", "viewer")) {
      String secret = token(user).split("_")[2];
      try (Stream<Path> all = Files.walk(directory)) {
        for (Path each : all.filter(Files::isRegularFile).toList()) {
          if (!each.equals(file(user))) {
            assertThat(new String(Files.readAllBytes(each), ISO_8859_1).contains(secret))
                .as("%s has the secret of a token", each)
                .isFalse();
          }
        }
      }
    }
  }
}
