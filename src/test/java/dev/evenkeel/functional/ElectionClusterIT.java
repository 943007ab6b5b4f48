package dev.evenkeel.functional;

import static dev.evenkeel.Futures.await;
import static org.assertj.core.api.Assertions.assertThat;

import dev.evenkeel.Closing;
import dev.evenkeel.Evenkeel;
import dev.evenkeel.TestUsers;
import dev.evenkeel.Wait;
import dev.evenkeel.client.Candidate;
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
        await(Evenkeel.connect(TestUsers.options().setSeeds(List.of(trio.cluster().split(",")))));
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

  private static JsonObject leads(long term) {
    return new JsonObject().put("leads", true).put("term", term).put("handingOver", false);
  }

  /** Its node answers all the time. */
  @Test
  void aCandidateOfANodeThatIsCutOffDoesNotLead() throws Exception {
    trio = new Trio(directory).start();
    Node alone = trio.others(trio.dispatcher(trio.node(1))).get(0);
    String candidate = open(alone, "a");
    Wait.until("it leads", SECONDS, () -> watch(alone, candidate).equals(leads(1)));
    for (Node other : trio.others(alone)) {
      other.process().mayPause();
      Trio.signal(other, "STOP");
    }
    try {
      Wait.until("it does not lead", SECONDS, () -> !watch(alone, candidate).getBoolean("leads"));
      var resigns = alone.post(candidate + "/resign", "{\"term\":1}");
      assertThat(resigns.statusCode()).as(resigns.body()).isEqualTo(200);
      assertThat(new JsonObject(resigns.body()))
          .as("its work has not ended")
          .isEqualTo(leads(1).put("leads", false).put("handingOver", true));
      assertThat(watch(alone, candidate).getBoolean("leads")).isFalse();
    } finally {
      for (Node other : trio.others(alone)) {
        Trio.signal(other, "CONT");
      }
    }
    // It has handed over, or has lost the term meanwhile.
    assertThat(alone.post(candidate + "/handed-over", "{\"term\":1}").statusCode()).isIn(200, 409);
    Wait.until("it leads again", SECONDS, () -> watch(alone, candidate).equals(leads(2)));
  }
}
