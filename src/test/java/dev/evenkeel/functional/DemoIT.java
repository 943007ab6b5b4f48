package dev.evenkeel.functional;

import static dev.evenkeel.Words.words;
import static org.assertj.core.api.Assertions.assertThat;

import dev.evenkeel.TestPorts;
import dev.evenkeel.TestUsers;
import dev.evenkeel.Wait;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * The demo shows what it says: joins, leaves, a real kill, and shards that always find an owner.
 */
@Tag("full")
class DemoIT {
  private static final int SHARDS = 12;

  @TempDir Path directory;

  private final HttpClient http = HttpClient.newHttpClient();

  private JsonObject group(int httpPort) throws IOException, InterruptedException {
    return new JsonObject(get(httpPort, "/api/groups/demo"));
  }

  private String get(int httpPort, String path) throws IOException, InterruptedException {
    HttpResponse<String> answer =
        http.send(
            TestUsers.request(URI.create("http://127.0.0.1:" + httpPort + path)).build(),
            HttpResponse.BodyHandlers.ofString());
    assertThat(answer.statusCode()).as(answer.body()).isEqualTo(200);
    return answer.body();
  }

  @Test
  void consumersJoinLeaveAndAreKilledAndNothingIsLeftInTheEnd() throws Exception {
    int port = TestPorts.take(4);
    int httpPort = TestPorts.take(1);
    Path temporary = Files.createDirectories(directory.resolve("tmp"));
    List<ProcessHandle> consumers;
    try (Jar.Running demo =
        Jar.startWith(
            directory,
            "demo",
            options(temporary),
            words("demo --port %s --http-port %s --every 1s", port, httpPort))) {
      awaitLine(demo, "share the 12 shards");
      assertThat(demo.out()).contains("http://127.0.0.1:" + httpPort + "/");
      awaitLine(demo, "joins: ");
      awaitLine(demo, "is killed by SIGKILL: within ");
      awaitLine(demo, "leaves cleanly: ");
      // The demo learns of them in passing, so of one event perhaps too late.
      awaitLine(demo, "with the counts of");
      assertThat(demo.out()).doesNotContain("not every shard");

      JsonArray moves = new JsonArray(get(httpPort, "/api/rebalances?group=demo"));
      Set<String> reasons = new HashSet<>();
      moves.forEach(move -> reasons.add(((JsonObject) move).getString("reason")));
      assertThat(reasons).contains("member joined", "member left");
      assertThat(moves).hasSizeGreaterThan(SHARDS);

      Wait.until(
          "every shard is owned",
          () ->
              group(httpPort).getJsonArray("shards").stream()
                      .filter(shard -> "OWNED".equals(((JsonObject) shard).getString("state")))
                      .count()
                  == SHARDS);
      long committed = committed(httpPort);
      Wait.until("messages are consumed", () -> committed(httpPort) > committed + 100);

      consumers = demo.process.descendants().toList();
      assertThat(consumers).hasSizeBetween(1, 7);
      Jar.Result result = demo.stop();
      assertThat(result.status()).as(result.toString()).isZero();
      assertThat(result.err()).isEmpty();
      assertThat(result.out()).containsPattern("the demo ends; [0-9,]{3,} orders were sent");
    }
    consumers.forEach(consumer -> Processes.awaitEnd(consumer));
    try (Stream<Path> left = Files.list(temporary)) {
      assertThat(left.map(Path::getFileName).map(Path::toString))
          .noneMatch(name -> name.startsWith("evenkeel"));
    }
  }

  private long committed(int httpPort) throws IOException, InterruptedException {
    return group(httpPort).getJsonArray("shards").stream()
        .map(shard -> ((JsonObject) shard).getLong("committed"))
        .mapToLong(committed -> committed == null ? 0 : committed)
        .sum();
  }

  @Test
  void aBusyPortIsOneLineAndLeavesNothing() throws Exception {
    Path temporary = Files.createDirectories(directory.resolve("tmp"));
    try (ServerSocket busy = new ServerSocket(0, 1, InetAddress.getByName("127.0.0.1"));
        Jar.Running demo =
            Jar.startWith(
                directory,
                "busy",
                options(temporary),
                words("demo --port %s", busy.getLocalPort()))) {
      Jar.Result result = demo.await();
      assertThat(result.status()).isEqualTo(1);
      assertThat(result.err().strip())
          .hasLineCount(1)
          .contains("--port " + busy.getLocalPort())
          .contains("choose another");
      assertThat(result.out()).isEmpty();
    }
    try (Stream<Path> left = Files.list(temporary)) {
      assertThat(left).noneMatch(path -> path.getFileName().toString().startsWith("evenkeel"));
    }
  }

  private static List<String> options(Path temporary) {
    List<String> options = new ArrayList<>(Jar.USUAL_OPTIONS);
    options.add("-Djava.io.tmpdir=" + temporary);
    return options;
  }

  private static void awaitLine(Jar.Running demo, String text) {
    Wait.until(text, 180, () -> demo.out().contains(text) || !demo.process.isAlive());
    assertThat(demo.out()).as(demo.err()).contains(text);
  }
}
