package dev.evenkeel.functional;

import static dev.evenkeel.Words.words;
import static org.assertj.core.api.Assertions.assertThat;

import dev.evenkeel.Closing;
import dev.evenkeel.TestPorts;
import io.vertx.core.json.JsonObject;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Base64;
import java.util.List;
import java.util.Random;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Each bad input gets one line that says what was wrong, and the node serves on. */
@Tag("full")
class BadInputIT {
  @TempDir static Path directory;
  @Closing private static Node node;

  @BeforeAll
  static void start() {
    node = new Node(directory.resolve("node")).start();
    node.createTopic("good", 2);
  }

  @AfterEach
  void theNodeServesOn() {
    var posted = node.post("/api/topics/good/messages", "{\"key\":\"k\",\"payload\":\"p\"}");
    assertThat(posted.statusCode()).as(posted.body()).isBetween(200, 299);
    assertThat(new JsonObject(posted.body()).getLong("offset")).isNotNegative();
  }

  private static void assertOneLine(Jar.Result result, int status, String... words) {
    assertThat(result.status()).as(result.toString()).isEqualTo(status);
    assertThat(result.err().strip()).hasLineCount(1).contains(words);
    assertThat(result.out()).isEmpty();
  }

  /** Over HTTP, and so in this JVM. */
  private static Jar.Result topic(String... args) {
    return node.tryAdmin(Stream.concat(Stream.of("topic"), Stream.of(args)).toArray(String[]::new));
  }

  private static Jar.Result command(String... args) {
    return Jar.run(node.directory, args);
  }

  /** With a spool, the time to connect is that to deliver. */
  @Test
  void noNodeAnswers() throws IOException {
    String line = Files.writeString(directory.resolve("unsent"), "hello\n").toString();
    String spool = directory.resolve("spool").toString();
    assertOneLine(
        command(
            words(
                "produce good --cluster=127.0.0.1:1 --spool=%s --delivery-timeout=2s %s",
                spool, line)),
        1,
        "within 2000 ms",
        "--cluster HOST:PORT");
  }

  @Test
  void unknownTopic() throws IOException {
    Path line = Files.writeString(directory.resolve("line"), "hello\n");
    Jar.Result produced = node.produce("unknown", line, "nowhere").await();
    assertThat(produced.status()).isEqualTo(1);
    assertThat(produced.err()).contains("nowhere");
    assertOneLine(node.consume("c", "nowhere", "g").await(), 1, "nowhere");
    assertOneLine(topic("describe", "nowhere"), 1, "nowhere");
    assertThat(node.get("/api/topics/nowhere").statusCode()).isEqualTo(404);
  }

  @Test
  void badNamesAndCounts() {
    assertOneLine(topic("create", "a b", "--shards", "2"), 1, "a b");
    assertOneLine(topic("create", "t0", "--shards", "0"), 2, "--shards '0'");
    assertThat(node.post("/api/topics", "{\"name\":\"t0\",\"shards\":0}").statusCode())
        .isEqualTo(400);
    assertOneLine(
        command("topic", "create", "good", "--shards", "2", "--http", node.url()), 1, "good");
    assertThat(node.post("/api/topics", "{\"name\":\"a/b\",\"shards\":1}").statusCode())
        .isEqualTo(400);
    assertThat(node.post("/api/topics", "{\"name\":").statusCode()).isEqualTo(400);
    assertThat(node.post("/api/topics", "{\"name\":\"good\",\"shards\":2}").statusCode())
        .isEqualTo(409);
  }

  @Test
  void aPayloadOfTwoMebibytes() throws IOException {
    Path file = directory.resolve("large");
    Files.writeString(file, "before\n" + "x".repeat(2 << 20) + "\nafter\n");
    Jar.Result produced = node.produce("large", file, "good").await();
    assertThat(produced.status()).isEqualTo(1);
    assertThat(produced.err().strip()).contains("line 2", "1048576").endsWith("acked 2 of 3");
    assertThat(
            node.post(
                    "/api/topics/good/messages",
                    new JsonObject().put("payload", "x".repeat((1 << 20) + 1)).encode())
                .statusCode())
        .isEqualTo(413);
  }

  @Test
  void aPayloadThatIsNotUtf8() throws IOException {
    node.createTopic("bytes", 1);
    Path file = directory.resolve("bytes");
    Files.write(file, new byte[] {(byte) 0xFF, (byte) 0xFE, 0, 'a', '\n'});
    assertThat(node.produce("bytes", file, "bytes").await().status()).isZero();
    Jar.Result consumed = node.consume("c", "bytes", "g", "--format", "json", "--max", "1").await();
    assertThat(consumed.status()).isZero();
    JsonObject message = new JsonObject(consumed.out());
    assertThat(Base64.getDecoder().decode(message.getString("payloadBase64")))
        .isEqualTo(new byte[] {(byte) 0xFF, (byte) 0xFE, 0, 'a'});
    assertThat(message.containsKey("payload")).isFalse();
    Jar.Result raw = node.consume("c", "bytes", "g2", "--max", "1").await();
    assertThat(raw.out().getBytes(StandardCharsets.ISO_8859_1))
        .isEqualTo(new byte[] {(byte) 0xFF, (byte) 0xFE, 0, 'a', '\n'});
  }

  @Test
  void anUnknownConfigurationKey() throws IOException {
    Path conf = Files.writeString(directory.resolve("bad.yaml"), "htp-port: 8080\n");
    assertOneLine(command("serve", "--conf", conf.toString()), 2, "htp-port", "http-port");
  }

  @Test
  void aBusyPort() throws IOException {
    int base = TestPorts.take(4);
    for (int busy = base; busy < base + 4; busy++) {
      try (ServerSocket taken = new ServerSocket(busy, 1, InetAddress.getLoopbackAddress())) {
        assertOneLine(
            command(
                words(
                    "serve --port %s --http-port %s --data %s",
                    base, TestPorts.take(1), directory.resolve("busy"))),
            1,
            String.valueOf(taken.getLocalPort()),
            "--port");
      }
    }
    assertOneLine(
        command(
            words(
                "serve --port %s --http-port %s --data %s",
                base, node.httpPort, directory.resolve("busy"))),
        1,
        String.valueOf(node.httpPort),
        "--http-port");
  }

  @Test
  void aDataDirectoryOfAnotherNode() {
    Path home = directory.resolve("other");
    try (Node other = new Node(home)) {
      other.start("--node", "n1");
      other.stop();
      Jar.Running started = other.begin("--node", "n2");
      assertOneLine(started.await(), 1, "n1", "n2");
      other.start("--node", "n1");
    }
  }

  @Test
  void aDataDirectoryInUse() {
    assertOneLine(
        command(
            words(
                "serve --port %s --http-port %s --data %s",
                TestPorts.take(4), TestPorts.take(1), node.directory.resolve("data"))),
        1,
        "data");
  }

  @Test
  void tooLittleDiskRefusesAppendsAndServesTheRest() throws IOException {
    try (Node full = new Node(directory.resolve("full"))) {
      full.start();
      full.createTopic("t", 1);
      full.send("t", List.of("a", "b", "c"));
      full.stop();
      var conf = Files.writeString(directory.resolve("full.yaml"), "disk-free-min-bytes: 900TiB\n");
      full.start("--conf", conf.toString());
      var refused = full.post("/api/topics/t/messages", "{\"payload\":\"p\"}");
      assertThat(refused.statusCode()).as(refused.body()).isIn(503, 507);
      assertThat(refused.body()).contains("DISK_FULL");
      Jar.Result consumed = full.consume("c", "t", "g", "--max", "3").await();
      assertThat(consumed.status()).isZero();
      assertThat(consumed.lines()).containsExactly("a", "b", "c");
      JsonObject group = new JsonObject(full.get("/api/groups/g").body());
      assertThat(group.getJsonArray("shards").getJsonObject(0).getLong("lag")).isZero();
    }
  }

  @Test
  void garbageOnEveryPort() throws IOException {
    long seed = System.nanoTime();
    System.err.println("BadInputIT garbage seed " + seed);
    Random random = new Random(seed);
    for (int port :
        new int[] {node.port, node.port + 1, node.port + 2, node.port + 3, node.httpPort}) {
      for (int round = 0; round < 20; round++) {
        byte[] garbage = new byte[1 + random.nextInt(2000)];
        random.nextBytes(garbage);
        try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), port)) {
          OutputStream out = socket.getOutputStream();
          out.write(garbage);
          out.flush();
        } catch (IOException e) {
          // The node may close the connection while we write: that is an answer too.
          assertThat(e).isInstanceOf(java.net.SocketException.class);
        }
      }
    }
  }

  @Test
  void aNodeThatIsNotThere() {
    String url = "http://127.0.0.1:" + TestPorts.take(1);
    assertOneLine(command("topic", "list", "--http", url), 1, url);
  }

  /** Other mistakes are made in one JVM. */
  @Test
  void wrongUsage() {
    assertOneLine(command("consume", "good"), 2, "--group");
  }
}
