package dev.evenkeel.gateway.http;

import static dev.evenkeel.Futures.await;
import static org.assertj.core.api.Assertions.assertThat;

import dev.evenkeel.Closing;
import dev.evenkeel.Refused;
import dev.evenkeel.api.ApiAddresses;
import dev.evenkeel.gateway.http.RawHttp.Answer;
import dev.evenkeel.protocol.Refusal;
import io.vertx.core.DeploymentOptions;
import io.vertx.core.Vertx;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import io.vertx.core.net.HostAndPort;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** What a foreign page may not make a browser do, over real connections. */
class GuardTest {
  private static final String MESSAGES = "/api/topics/t/messages";
  private static final String OCTETS = "Content-Type: application/octet-stream";
  private static final String EMPTY = "Content-Length: 0";

  @Closing private final Vertx vertx = Vertx.vertx();

  /** Requests that reached the gateway. */
  private final AtomicInteger asked = new AtomicInteger();

  private int port;
  private String host;

  @BeforeEach
  void start() throws Exception {
    for (String address : List.of(ApiAddresses.PRODUCE, ApiAddresses.CLUSTER)) {
      vertx
          .eventBus()
          .consumer(
              address,
              question -> {
                asked.incrementAndGet();
                question.reply(new JsonObject("{\"shard\":0,\"offset\":1}"));
              });
    }
    WebVerticle web = new WebVerticle();
    JsonObject config =
        JsonObject.of("port", 0, "names", new JsonArray().add("queue.example.com").add("Short"));
    await(vertx.deployVerticle(web, new DeploymentOptions().setConfig(config)));
    port = web.actualPort();
    host = "Host: 127.0.0.1:" + port;
  }

  private Answer call(String method, String path, String... headers) throws IOException {
    try (RawHttp connection = new RawHttp(port)) {
      return connection.call(method, path, headers);
    }
  }

  private static void assertError(Answer answer, int status, String error) {
    assertThat(answer.status()).as(answer.body()).isEqualTo(status);
    assertThat(new JsonObject(answer.body()).getString("error")).isEqualTo(error);
    assertThat(new JsonObject(answer.body()).getString("message")).isNotBlank().hasLineCount(1);
  }

  @Test
  void theHostIsAnAddressOrANameOfTheNode() throws Exception {
    for (String name :
        List.of(
            "127.0.0.1",
            "127.0.0.1:" + port,
            "10.1.2.3:8080",
            "[::1]:8080",
            "[2001:db8::1]",
            "localhost",
            "LocalHost:8080",
            "localhost.",
            "queue.localhost:8080",
            "queue.example.com",
            "Queue.Example.com.:443",
            "short:8080")) {
      assertThat(call("GET", "/health/live", "Host: " + name).status()).as(name).isEqualTo(200);
    }
    for (String name :
        List.of(
            "evil.example",
            "evil.example:" + port,
            "127.0.0.1.evil.example",
            "localhost.evil.example",
            "notlocalhost",
            "queue.example.com.evil.example",
            "other.queue.example.com",
            "2130706433",
            "127.1",
            "0x7f.0.0.1",
            "[evil]",
            "x".repeat(300))) {
      for (String path : List.of("/", "/api/topics", "/health/live", "/metrics", "/ws/live")) {
        Answer answer = call("GET", path, "Host: " + name);
        assertError(answer, 421, "MISDIRECTED_REQUEST");
        assertThat(answer.body()).contains("http-names");
      }
    }
  }

  @Test
  void theHostIsThereOnceAndCanBeRead() throws Exception {
    for (String name : List.of("", " ", ":80", "evil:x", "a b", "[::1", "a@b")) {
      assertThat(call("GET", "/health/live", "Host: " + name).status()).as(name).isIn(400, 421);
    }
    assertError(call("GET", "/health/live", host, "Host: evil.example"), 400, "INVALID");
    assertError(call("GET", "/health/live"), 400, "INVALID");
    try (RawHttp old = new RawHttp(port)) {
      assertThat(old.send("GET /health/live HTTP/1.0\r\n\r\n").answer().status()).isEqualTo(200);
    }
    try (RawHttp old = new RawHttp(port)) {
      old.send("GET /health/live HTTP/1.0\r\nHost: evil.example\r\n\r\n");
      assertThat(old.answer().status()).isEqualTo(421);
    }
  }

  @Test
  void aNameIsWithoutSchemeAndPort() {
    for (String name : List.of("http://a", "a:80", "a/b", "", "*.example.com", "a b")) {
      Refused.with(
          Refusal.INVALID, () -> new HostNames(List.of(name)), "'" + name + "' is not a host name");
    }
    new HostNames(List.of("a", "a.b", "a_b.c-d", "10.0.0.1", "::1", "a."));
  }

  @Test
  void pagesOfOthersChangeNothing() throws Exception {
    for (String origin :
        List.of(
            "http://evil.example",
            "http://evil.example:" + port,
            "http://127.0.0.1",
            "http://127.0.0.1:1",
            "http://localhost:" + port,
            "https://127.0.0.1",
            "null",
            "",
            "file://",
            "http://a b")) {
      String header = "Origin: " + origin;
      assertError(call("POST", MESSAGES, host, header, OCTETS, EMPTY), 403, "FORBIDDEN");
      assertError(call("POST", MESSAGES, host, header, EMPTY), 403, "FORBIDDEN");
      assertError(call("DELETE", "/api/topics/t", host, header), 403, "FORBIDDEN");
      assertError(call("PATCH", "/api/topics/t", host, header, EMPTY), 403, "FORBIDDEN");
      Answer socket = call("GET", "/ws/live", host, header, "Upgrade: websocket");
      assertError(socket, 403, "FORBIDDEN");
      // A browser does not let the page read this.
      Answer read = call("GET", "/health/live", host, header);
      assertThat(read.status()).isEqualTo(200);
      assertThat(read.headers()).doesNotContainKey("access-control-allow-origin");
    }
    assertThat(call("OPTIONS", MESSAGES, host, "Origin: http://evil.example").status())
        .isEqualTo(405);
    assertThat(asked).hasValue(0);
    String own = "Origin: http://127.0.0.1:" + port;
    assertThat(call("POST", MESSAGES, host, own, OCTETS, EMPTY).status()).isEqualTo(200);
    String proxied = "Host: queue.example.com";
    String secure = "Origin: https://queue.example.com";
    assertThat(call("POST", MESSAGES, proxied, secure, OCTETS, EMPTY).status()).isEqualTo(200);
    assertThat(asked).hasValue(2);
  }

  @Test
  void anOriginIsTheSameWithItsUsualPort() {
    assertThat(Guard.sameOrigin(null, null, false)).isTrue();
    assertThat(Guard.sameOrigin("http://a:8080", HostAndPort.create("A", 8080), false)).isTrue();
    assertThat(Guard.sameOrigin("https://a", HostAndPort.create("a", 443), false)).isTrue();
    assertThat(Guard.sameOrigin("https://a", HostAndPort.create("a", -1), false)).isTrue();
    assertThat(Guard.sameOrigin("http://[::1]:1", HostAndPort.parseAuthority("[::1]:1", -1), false))
        .isTrue();
    assertThat(Guard.sameOrigin("http://a:1", HostAndPort.create("a", 2), false)).isFalse();
    assertThat(Guard.sameOrigin("http://b:8080", HostAndPort.create("a", 8080), false)).isFalse();
    assertThat(Guard.sameOrigin("null", HostAndPort.create("a", 80), false)).isFalse();
    assertThat(Guard.sameOrigin("http://a b", HostAndPort.create("a", 80), false)).isFalse();
    // A page that was not encrypted may be anybody's.
    assertThat(Guard.sameOrigin("http://a", HostAndPort.create("a", -1), true)).isFalse();
    assertThat(Guard.sameOrigin("https://a", HostAndPort.create("a", -1), true)).isTrue();
  }

  @Test
  void whatAFormCanSendIsNoMessage() throws Exception {
    for (String type :
        List.of(
            "text/plain",
            "TEXT/PLAIN; charset=utf-8",
            "application/x-www-form-urlencoded",
            " multipart/form-data; boundary=x")) {
      String header = "Content-Type: " + type;
      for (String path : List.of(MESSAGES, "/api/topics", "/api/cluster/nodes/n1/replace")) {
        Answer answer = call("POST", path, host, header, EMPTY);
        assertError(answer, 415, "UNSUPPORTED_MEDIA_TYPE");
        assertThat(answer.body()).contains("application/json");
      }
    }
    assertThat(asked).hasValue(0);
    assertThat(call("POST", MESSAGES, host, OCTETS, EMPTY).status()).isEqualTo(200);
    assertThat(call("POST", MESSAGES, host, EMPTY).status()).isEqualTo(200);
    assertThat(call("POST", "/api/cluster/nodes/n1/replace", host).status()).isEqualTo(200);
    assertThat(asked).hasValue(3);
  }

  @Test
  void everyAnswerForbidsGuessingItsTypeAndFramingIt() throws Exception {
    List<Answer> answers =
        List.of(
            call("GET", "/", host),
            call("GET", "/assets/js/main.js", host),
            call("GET", "/health/live", host),
            call("GET", "/nowhere", host),
            call("GET", "/%", host),
            call("PUT", "/api/topics", host),
            call("POST", "/api/topics", host, EMPTY),
            call("GET", "/ws/live", host),
            call("GET", "/", "Host: evil.example"),
            call("GET", "/"),
            call("GET", "/ \u0000", host));
    for (Answer answer : answers) {
      assertThat(answer.headers())
          .containsEntry("x-content-type-options", "nosniff")
          .containsEntry("x-frame-options", "DENY")
          .containsEntry("referrer-policy", "no-referrer");
    }
    assertThat(answers.get(0).headers().get("content-security-policy"))
        .contains("frame-ancestors 'none'");
  }

  @Test
  void whatIsTooLongOrNotHttpIsRefusedAndTheConnectionClosed() throws Exception {
    try (RawHttp connection = new RawHttp(port)) {
      assertError(connection.call("GET", "/" + "x".repeat(5_000), host), 414, "URI_TOO_LONG");
      connection.awaitClosed();
    }
    try (RawHttp connection = new RawHttp(port)) {
      Answer answer = connection.call("GET", "/", host, "Cookie: " + "x".repeat(9_000));
      assertError(answer, 431, "HEADERS_TOO_LARGE");
      connection.awaitClosed();
    }
    try (RawHttp connection = new RawHttp(port)) {
      assertError(connection.send("\u0016\u0003\u0001 x\r\n\r\n").answer(), 400, "INVALID");
      connection.awaitClosed();
    }
  }

  @Test
  void http2IsNotSpoken() throws Exception {
    try (RawHttp connection = new RawHttp(port)) {
      connection.send("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n").awaitClosed();
    }
    HttpRequest request =
        HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + "/health/live")).build();
    HttpResponse<String> answer =
        HttpClient.newBuilder()
            .version(HttpClient.Version.HTTP_2)
            .build()
            .send(request, HttpResponse.BodyHandlers.ofString());
    assertThat(answer.statusCode()).isEqualTo(200);
    assertThat(answer.version()).isEqualTo(HttpClient.Version.HTTP_1_1);
  }
}
