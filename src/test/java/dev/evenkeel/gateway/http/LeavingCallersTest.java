package dev.evenkeel.gateway.http;

import static dev.evenkeel.Futures.await;
import static org.assertj.core.api.Assertions.assertThat;

import dev.evenkeel.Wait;
import dev.evenkeel.client.EvenkeelClient;
import dev.evenkeel.client.Producer;
import dev.evenkeel.client.ProducerOptions;
import dev.evenkeel.testkit.EmbeddedNode;
import dev.evenkeel.testkit.EvenkeelExtension;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.io.IOException;
import java.io.InputStream;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Callers who close their connections while they wait for messages of a session. */
class LeavingCallersTest {
  @RegisterExtension static final EvenkeelExtension EVENKEEL = new EvenkeelExtension();

  private final HttpClient http = HttpClient.newHttpClient();
  private EmbeddedNode node;
  private EvenkeelClient client;
  private String topic;
  private String path;

  @BeforeEach
  void open(EmbeddedNode with) throws Exception {
    node = with;
    client = with.client();
    topic = "t-" + System.nanoTime();
    node.createTopic(topic, 1);
    String sessions = "/api/groups/" + topic + "/sessions";
    JsonObject body = new JsonObject().put("topics", new JsonArray().add(topic));
    HttpResponse<String> opened =
        http.send(
            HttpRequest.newBuilder(URI.create(node.http() + sessions))
                .header("content-type", "application/json")
                .POST(HttpRequest.BodyPublishers.ofString(body.encode()))
                .build(),
            HttpResponse.BodyHandlers.ofString());
    path = sessions + "/" + new JsonObject(opened.body()).getString("session");
  }

  private void send(String payload) {
    Producer producer = await(client.producer(new ProducerOptions().setTopic(topic)));
    await(producer.send("k", payload.getBytes(StandardCharsets.UTF_8)));
    await(producer.close());
  }

  private HttpResponse<String> get(String what) {
    try {
      return http.send(
          HttpRequest.newBuilder(URI.create(node.http() + path + what)).build(),
          HttpResponse.BodyHandlers.ofString());
    } catch (IOException | InterruptedException e) {
      throw new AssertionError(e);
    }
  }

  private List<JsonObject> poll(int waitMillis) {
    HttpResponse<String> answer = get("/messages?waitMs=" + waitMillis);
    assertThat(answer.statusCode()).as(answer.body()).isEqualTo(200);
    return new JsonObject(answer.body())
        .getJsonArray("messages").stream().map(JsonObject.class::cast).toList();
  }

  private Socket request(String what) throws IOException {
    URI uri = URI.create(node.http());
    Socket socket = new Socket(uri.getHost(), uri.getPort());
    socket
        .getOutputStream()
        .write(
            ("GET " + path + what + " HTTP/1.1\r\nhost: localhost\r\n\r\n")
                .getBytes(StandardCharsets.US_ASCII));
    return socket;
  }

  /** While the first request waits, another one is refused. */
  private void awaitTurn(int status) {
    Awaitility.await().until(() -> get("/messages?waitMs=0").statusCode() == status);
  }

  /** Until the node has seen the end of a connection, a request of it may still have its turn. */
  private void awaitFirstAttempt(String payload) {
    Wait.untilAsserted(
        () -> {
          List<JsonObject> messages = poll(100);
          assertThat(messages).hasSize(1);
          assertThat(messages.get(0).getString("payload")).isEqualTo(payload);
          assertThat(messages.get(0).getInteger("attempt")).isEqualTo(1);
        });
  }

  @Test
  void aCallerWhoLeavesMakesRoomForTheNext() throws Exception {
    try (Socket gone = request("/messages?waitMs=15000")) {
      awaitTurn(429);
    }
    awaitTurn(200);
    send("m");
    assertThat(poll(15_000)).hasSize(1).allMatch(each -> each.getInteger("attempt") == 1);
  }

  @Test
  void aReaderOfEventsWhoLeavesMakesRoomForTheNext() throws Exception {
    try (Socket gone = request("/events")) {
      InputStream in = gone.getInputStream();
      StringBuilder read = new StringBuilder();
      while (read.indexOf(": waiting") < 0) {
        read.append((char) in.read());
      }
      awaitTurn(429);
    }
    // The node has seen the end of the connection long before the message comes to it.
    send("m");
    awaitFirstAttempt("m");
  }

  /**
   * The answers are larger than what the system keeps for a connection, so that they cannot be
   * written to a caller who does not read.
   */
  @Test
  void anAnswerThatCannotBeWrittenGoesToTheNextCaller() throws Exception {
    String payload = "x".repeat(1_000_000);
    send(payload);
    try (Socket gone = request("/messages?waitMs=15000")) {
      // Several on one connection, which the node answers one after another.
      for (int i = 0; i < 20; i++) {
        gone.getOutputStream()
            .write(
                ("GET " + path + "/messages?again=true HTTP/1.1\r\nhost: localhost\r\n\r\n")
                    .getBytes(StandardCharsets.US_ASCII));
      }
      assertThat(gone.getInputStream().read()).isEqualTo('H');
    }
    awaitFirstAttempt(payload);
  }
}
