package dev.evenkeel.functional;

import static dev.evenkeel.Futures.await;
import static org.assertj.core.api.Assertions.assertThat;

import dev.evenkeel.TestPorts;
import dev.evenkeel.TestUsers;
import dev.evenkeel.cluster.ClusterMember;
import dev.evenkeel.cluster.LiteMember;
import io.vertx.core.json.JsonObject;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A launcher of the user's own deploys a whole node and a consumer by name, from the fat jar. */
@Tag("full")
class OwnLauncherIT {
  private static final String JAR =
      Path.of(System.getProperty("evenkeel.jar", "target/evenkeel.jar"))
          .toAbsolutePath()
          .toString();
  private static final String OWN = Path.of("target/test-classes").toAbsolutePath().toString();

  @TempDir Path directory;

  @Test
  void handlesWhatComesByHttpAndByTheEventBusAndRemembersIt() throws Exception {
    int port = TestPorts.take(4);
    int httpPort = TestPorts.take(1);
    try (Jar.Running launcher = launch("first", port, httpPort)) {
      awaitOut(launcher, "launcher ready");
      HttpResponse<String> posted =
          post(httpPort, "/api/topics/orders/messages", "{\"key\":\"k\",\"payload\":\"by http\"}");
      assertThat(posted.statusCode()).as(posted.body()).isEqualTo(200);
      awaitOut(launcher, "handled k by http of shard");

      JsonObject place = produceByEventBus(port, "by bus");
      awaitOut(
          launcher,
          "handled k by bus of shard "
              + place.getInteger("shard")
              + " at "
              + place.getLong("offset"));

      Jar.Result stopped = launcher.stop();
      assertThat(stopped.err()).doesNotContain("could not stop");
    }
    try (Jar.Running launcher = launch("second", port, httpPort)) {
      awaitOut(launcher, "launcher ready");
      HttpResponse<String> posted =
          post(httpPort, "/api/topics/orders/messages", "{\"key\":\"k\",\"payload\":\"again\"}");
      assertThat(posted.statusCode()).as(posted.body()).isEqualTo(200);
      awaitOut(launcher, "handled k again of shard");
      // What was finished and released before does not come again.
      assertThat(launcher.out()).doesNotContain("by http").doesNotContain("by bus");
    }
  }

  private Jar.Running launch(String name, int port, int httpPort) {
    return Program.start(
        directory,
        name,
        List.of(JAR, OWN),
        "examples.LauncherExample",
        String.valueOf(port),
        String.valueOf(httpPort),
        directory.resolve("data").toString());
  }

  private static JsonObject produceByEventBus(int port, String payload) throws Exception {
    ClusterMember member = await(LiteMember.join(port));
    try {
      return (JsonObject)
          await(
                  member
                      .vertx()
                      .eventBus()
                      .request(
                          "orders.in", new JsonObject().put("key", "k").put("payload", payload)))
              .body();
    } finally {
      await(member.close());
    }
  }

  private static HttpResponse<String> post(int httpPort, String path, String body)
      throws Exception {
    return HttpClient.newHttpClient()
        .send(
            TestUsers.request(URI.create("http://127.0.0.1:" + httpPort + path))
                .header("Content-Type", "application/json")
                .POST(HttpRequest.BodyPublishers.ofString(body))
                .build(),
            HttpResponse.BodyHandlers.ofString());
  }

  private static void awaitOut(Jar.Running launcher, String text) {
    Awaitility.await()
        .atMost(Duration.ofSeconds(120))
        .failFast(() -> assertThat(launcher.process.isAlive()).as(launcher.err()).isTrue())
        .untilAsserted(() -> assertThat(launcher.out()).as(launcher.err()).contains(text));
  }
}
