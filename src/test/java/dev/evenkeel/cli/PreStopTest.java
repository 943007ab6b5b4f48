package dev.evenkeel.cli;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpExchange;
import dev.evenkeel.Closing;
import dev.evenkeel.api.ClusterStatusView;
import dev.evenkeel.api.RecordJson;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.io.IOException;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** {@code cluster pre-stop}, against answers of a cluster and of Kubernetes. */
class PreStopTest {
  @TempDir Path account;

  private final Map<String, Supplier<JsonObject>> answers = new ConcurrentHashMap<>();
  private final List<String> asked = new ArrayList<>();
  @Closing private final StubApi api = new StubApi("/", this::answer);
  private final StringWriter out = new StringWriter();
  private final StringWriter err = new StringWriter();

  private void answer(HttpExchange exchange) throws IOException {
    String request = exchange.getRequestMethod() + " " + exchange.getRequestURI().getPath();
    asked.add(request + " " + exchange.getRequestHeaders().getFirst("authorization"));
    Supplier<JsonObject> known = answers.get(request);
    StubApi.answer(exchange, known == null ? 404 : 200, known == null ? Map.of() : known.get());
  }

  private int preStop(String... more) {
    return api.run(out, err, "cluster pre-stop", more);
  }

  private static JsonObject node(String name, boolean alive) {
    return new JsonObject().put("node", name).put("alive", alive);
  }

  /** A log group that n1 leads, with one follower so far behind, and another up to date. */
  private static JsonObject log(String name, Long behind, String... voters) {
    JsonArray followers =
        new JsonArray()
            .add(new JsonObject().put("node", "n2").put("lagEntries", behind))
            .add(new JsonObject().put("node", "n3").put("lagEntries", 0L));
    var log = new JsonObject().put("group", name).put("leader", "n1").put("followers", followers);
    return voters.length == 0 ? log : log.put("voters", new JsonArray(List.of(voters)));
  }

  private static JsonObject cluster(boolean second, JsonObject... logs) {
    var nodes = new JsonArray().add(node("n1", true)).add(node("n2", second)).add(node("n3", true));
    return new JsonObject().put("nodes", nodes).put("logs", new JsonArray(List.of(logs)));
  }

  private static List<String> obstacles(JsonObject cluster, String node) {
    return PreStop.obstacles(RecordJson.of(ClusterStatusView.class).read(cluster), node);
  }

  @Test
  void aMajorityOfCopiesMustBeLeft() {
    assertThat(obstacles(cluster(true, log("d0", 0L)), "n3")).isEmpty();
    assertThat(obstacles(cluster(false, log("d0", 0L)), "n3"))
        .containsExactly("d0 needs 2 of 3 copies, and without n3 only 1 would be there: n1");
    assertThat(obstacles(cluster(true, log("d0", 10_001L)), "n1"))
        .containsExactly("d0 needs 2 of 3 copies, and without n1 only 1 would be there: n3");
    assertThat(obstacles(cluster(true, log("d0", null)), "n3")).hasSize(1);
    assertThat(obstacles(cluster(false, log("d0", 0L)), "n4")).as("no voter").isEmpty();
    assertThat(obstacles(cluster(false, log("d0", 0L, "n1", "n3")), "n3"))
        .as("two copies: waiting does not help")
        .isEmpty();
    assertThat(obstacles(cluster(true, log("d0", 0L).putNull("leader")), "n3"))
        .containsExactly("d0 needs 2 of 3 copies, and without n3 only 0 would be there: none");
  }

  @Test
  void itWaitsUntilTheOthersAreThere() {
    List<JsonObject> states =
        new ArrayList<>(List.of(cluster(false, log("d0", 0L)), cluster(true, log("d0", 0L))));
    answers.put("GET /api/cluster", () -> states.size() > 1 ? states.remove(0) : states.get(0));
    assertThat(preStop("n3")).isZero();
    assertThat(out.toString()).isEqualTo("node n3 can be stopped\n");
    assertThat(err.toString()).startsWith("waiting: d0 needs 2 of 3 copies");
  }

  @Test
  void itSaysWhyIfTheyDoNotCome() {
    answers.put("GET /api/cluster", () -> cluster(false, log("d0", 0L)));
    assertThat(preStop("n3", "--wait", "0s")).isEqualTo(1);
    assertThat(err.toString()).contains("node n3 should not be stopped: d0 needs 2 of 3 copies");
  }

  private String[] onKubernetes(String pod) throws IOException {
    Files.writeString(account.resolve("token"), "secret\n");
    return new String[] {
      pod,
      "--wait",
      "0s",
      "--stateful-set",
      "queues/evenkeel",
      "--kubernetes",
      api.url(),
      "--service-account",
      account.toString()
    };
  }

  private void replicas(int replicas) {
    answers.put(
        "GET /apis/apps/v1/namespaces/queues/statefulsets/evenkeel",
        () -> new JsonObject().put("spec", new JsonObject().put("replicas", replicas)));
  }

  @Test
  void aPodThatComesBackIsOnlyWaitedFor() throws IOException {
    replicas(4);
    answers.put("GET /api/cluster", () -> cluster(true, log("d0", 0L)));
    assertThat(preStop(onKubernetes("evenkeel-3"))).isZero();
    assertThat(asked.get(0))
        .isEqualTo("GET /apis/apps/v1/namespaces/queues/statefulsets/evenkeel Bearer secret");
    assertThat(asked).noneMatch(request -> request.startsWith("POST"));
  }

  @Test
  void aPodThatTheSetDoesNotKeepIsRemoved() throws IOException {
    replicas(3);
    answers.put(
        "POST /api/cluster/nodes/evenkeel-3/remove", () -> new JsonObject().put("state", "DONE"));
    assertThat(preStop(onKubernetes("evenkeel-3"))).as(err.toString()).isZero();
    assertThat(out.toString()).isEqualTo("node evenkeel-3 is not in the cluster any more\n");
  }

  @Test
  void ifAllPodsStopNobodyLeaves() throws IOException {
    replicas(0);
    assertThat(preStop(onKubernetes("evenkeel-2"))).as(err.toString()).isZero();
    assertThat(out.toString()).isEqualTo("the whole cluster stops: nothing to wait for\n");
    assertThat(asked).noneMatch(request -> request.contains("/api/cluster"));
  }

  @Test
  void ifKubernetesDoesNotTellNothingIsRemoved() throws IOException {
    answers.put("GET /api/cluster", () -> cluster(true, log("d0", 0L)));
    assertThat(preStop(onKubernetes("evenkeel-3"))).isZero();
    assertThat(err.toString()).startsWith("it is not known whether evenkeel-3 comes back: ");
    assertThat(preStop(onKubernetes("other"))).isZero();
    replicas(3);
    assertThat(preStop(onKubernetes("other"))).isEqualTo(2);
  }
}
