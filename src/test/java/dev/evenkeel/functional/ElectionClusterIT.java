package dev.evenkeel.functional;

import static dev.evenkeel.Futures.await;
import static org.assertj.core.api.Assertions.assertThat;

import dev.evenkeel.Closing;
import dev.evenkeel.Evenkeel;
import dev.evenkeel.Wait;
import dev.evenkeel.client.Candidate;
import dev.evenkeel.client.ClientOptions;
import dev.evenkeel.client.ElectionOptions;
import dev.evenkeel.client.EvenkeelClient;
import io.vertx.core.Future;
import io.vertx.core.json.JsonObject;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Elections in a cluster whose dispatcher dies. */
@Timeout(600)
class ElectionClusterIT {
  private static final int SECONDS = 120;

  @TempDir Path directory;
  @Closing private Trio trio;
  @Closing private EvenkeelClient client;

  private static String open(Node node, String member) {
    String path = "/api/elections/http/candidates";
    var opened = node.post(path, new JsonObject().put("member", member).encode());
    assertThat(opened.statusCode()).as(opened.body()).isEqualTo(201);
    return path + "/" + new JsonObject(opened.body()).getString("candidate");
  }

  private static JsonObject watch(Node node, String candidate) {
    HttpResponse<String> answer = node.get(candidate + "?waitMs=1000");
    assertThat(answer.statusCode()).as(answer.body()).isEqualTo(200);
    return new JsonObject(answer.body());
  }

  @Test
  void aLeaderOutlastsTheDispatcherAndACandidateOfADeadNodeIsGone() throws Exception {
    trio = new Trio(directory).start();
    Node dispatcher = trio.dispatcher(trio.node(1));
    Node left = trio.others(dispatcher).get(0);
    client =
        await(Evenkeel.connect(new ClientOptions().setSeeds(List.of(trio.cluster().split(",")))));
    AtomicInteger executes = new AtomicInteger();
    ElectionOptions options = new ElectionOptions().setName("java").setPauseMillis(10);
    Candidate first =
        await(
            client.election(
                options,
                context -> {
                  executes.incrementAndGet();
                  return Future.succeededFuture();
                }));
    Wait.until("it works", SECONDS, () -> executes.get() > 2);
    Candidate second = await(client.election(options, context -> Future.succeededFuture()));

    String gone = open(dispatcher, "gone");
    Wait.until("it leads", SECONDS, () -> watch(left, gone).getBoolean("leads"));
    String next = open(left, "next");
    assertThat(watch(left, next).getBoolean("leads")).isFalse();

    dispatcher.kill();
    trio.dispatcher(left);
    int before = executes.get();
    Wait.until("work goes on", SECONDS, () -> executes.get() > before + 2);
    Wait.until("another leads", SECONDS, () -> watch(left, next).getBoolean("leads"));
    assertThat(watch(left, next).getLong("term")).isEqualTo(2);
    Wait.until(
        "its node is known to be dead",
        SECONDS,
        () -> left.get(gone + "?waitMs=0").body().contains("UNKNOWN_SESSION"));
    assertThat(first.isLeading()).isTrue();
    assertThat(first.leadership().term()).isEqualTo(1);
    assertThat(second.isLeading()).isFalse();
    await(first.close());
    Wait.until("the second leads", SECONDS, second::isLeading);
    assertThat(second.leadership().term()).isEqualTo(2);
  }
}
