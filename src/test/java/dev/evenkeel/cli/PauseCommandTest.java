package dev.evenkeel.cli;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.io.StringWriter;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** {@code group pause} and {@code group resume}. */
class PauseCommandTest {
  private final List<String> changes = new ArrayList<>();
  private HttpServer server;

  @BeforeEach
  void start() throws IOException {
    server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    server.createContext("/api/groups", this::answer);
    server.start();
  }

  @AfterEach
  void stop() {
    server.stop(0);
  }

  private void answer(HttpExchange exchange) throws IOException {
    byte[] body = exchange.getRequestBody().readAllBytes();
    changes.add(
        exchange.getRequestMethod()
            + " "
            + exchange.getRequestURI().getPath()
            + " "
            + new String(body, StandardCharsets.UTF_8));
    byte[] answer = "{}".getBytes(StandardCharsets.UTF_8);
    exchange.sendResponseHeaders(200, answer.length);
    exchange.getResponseBody().write(answer);
    exchange.close();
  }

  private String group(String... args) {
    List<String> all = new ArrayList<>(List.of("group"));
    all.addAll(List.of(args));
    all.addAll(List.of("--http", "http://127.0.0.1:" + server.getAddress().getPort()));
    StringWriter out = new StringWriter();
    StringWriter err = new StringWriter();
    assertThat(CommandInJvm.run(out, err, all.toArray(String[]::new))).as("%s", err).isZero();
    return out.toString();
  }

  @Test
  void theySendWhatIsGiven() {
    assertThat(group("pause", "g")).isEqualTo("paused group g\n");
    assertThat(group("pause", "g", "--topic", "t")).isEqualTo("paused t of group g\n");
    assertThat(group("resume", "g", "--topic", "t", "--shard", "2"))
        .isEqualTo("resumed t/2 of group g\n");
    assertThat(changes)
        .containsExactly(
            "POST /api/groups/g/pause {}",
            "POST /api/groups/g/pause {\"topic\":\"t\"}",
            "POST /api/groups/g/resume {\"topic\":\"t\",\"shard\":2}");
  }
}
