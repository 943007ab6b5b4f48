package dev.evenkeel.functional;

import static dev.evenkeel.Words.words;
import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpServer;
import dev.evenkeel.TestUsers;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A node and commands that send their spans to a collector. */
class NodeTracesIT {
  private static final String TRACE = "0123456789abcdef0123456789abcdef";

  @TempDir static Path directory;

  /** What came to the collector: protobuf, as text of which each byte is a letter. */
  private static final List<String> RECEIVED = new CopyOnWriteArrayList<>();

  private static HttpServer collector;
  private static String url;
  private static Node node;

  @BeforeAll
  static void start() throws IOException {
    collector = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    collector.createContext(
        "/v1/traces",
        exchange -> {
          RECEIVED.add(
              new String(exchange.getRequestBody().readAllBytes(), StandardCharsets.ISO_8859_1));
          exchange.getResponseHeaders().add("Content-Type", "application/x-protobuf");
          exchange.sendResponseHeaders(200, -1);
          exchange.close();
        });
    collector.start();
    url = "http://127.0.0.1:" + collector.getAddress().getPort();
    node = new Node(directory.resolve("node")).start("--tracing", url);
    node.createTopic("orders", 1);
  }

  @AfterAll
  static void stop() {
    try (Node last = node) {
      assertThat(last.stop().status()).isZero();
    }
    collector.stop(0);
  }

  /** The bytes of a trace or span id in protobuf. */
  private static String bytes(String hex) {
    return new String(HexFormat.of().parseHex(hex), StandardCharsets.ISO_8859_1);
  }

  private static Jar.Result run(String... args) {
    List<String> all = new ArrayList<>(List.of(args));
    all.addAll(List.of("--cluster", node.cluster()));
    return Jar.run(directory, all.toArray(String[]::new));
  }

  private static boolean received(String... parts) {
    return RECEIVED.stream().anyMatch(each -> List.of(parts).stream().allMatch(each::contains));
  }

  @Test
  void commandsBeginTracesAndTheNodeContinuesThem() throws IOException {
    Path lines = Files.writeString(directory.resolve("lines"), "one\ntwo\n");
    Jar.Result produced = run("produce", "orders", lines.toString(), "--tracing", url);
    assertThat(produced.status()).as(produced.err()).isZero();
    assertThat(received("evenkeel-produce", "send orders")).isTrue();
    Awaitility.await().until(() -> received("evenkeel-node", "append", "evenkeel.node.n1.data"));

    var consumed = run(words("consume orders --group g --max 2 --format json --tracing %s", url));
    assertThat(consumed.status()).as(consumed.err()).isZero();
    assertThat(consumed.out()).contains("traceparent");
    assertThat(received("evenkeel-consume", "process orders")).isTrue();
  }

  @Test
  void aMessageOverHttpContinuesTheTraceOfItsRequest() throws Exception {
    HttpRequest request =
        TestUsers.request(URI.create(node.url() + "/api/topics/orders/messages"))
            .header("Content-Type", "application/json")
            .header("traceparent", "00-" + TRACE + "-0123456789abcdef-01")
            .POST(HttpRequest.BodyPublishers.ofString("{\"key\":\"k\",\"payload\":\"hello\"}"))
            .build();
    var answer = HttpClient.newHttpClient().send(request, HttpResponse.BodyHandlers.ofString());
    assertThat(answer.statusCode()).as(answer.body()).isEqualTo(200);
    Awaitility.await().until(() -> received("evenkeel-node", "send orders", bytes(TRACE)));
    assertThat(node.read("/api/topics/orders/messages?shard=0&at=earliest")).contains(TRACE);
  }

  @Test
  void aBadAddressIsWrongUsage() {
    Jar.Result refused = run("produce", "orders", "--tracing", "collector:4318");
    assertThat(refused.status()).isEqualTo(2);
    assertThat(refused.err())
        .contains("--tracing is 'collector:4318'")
        .contains("such as http://127.0.0.1:4318");
  }
}
