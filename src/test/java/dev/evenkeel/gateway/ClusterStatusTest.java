package dev.evenkeel.gateway;

import static org.assertj.core.api.Assertions.assertThat;

import dev.evenkeel.api.ClusterStatusView;
import dev.evenkeel.api.RecordJson;
import dev.evenkeel.bus.ClusterView;
import dev.evenkeel.bus.NodeLogs;
import dev.evenkeel.bus.Views;
import dev.evenkeel.protocol.StateDigest;
import dev.evenkeel.protocol.wire.ByteReader;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

/** Answers of several nodes, some of them old, made into one picture. */
class ClusterStatusTest {
  private static final ClusterView VIEW =
      Views.formed(
          "id",
          "n2",
          "n1",
          Arrays.asList("n1", null),
          List.of("n3", "n1", "n2"),
          List.of(),
          0,
          List.of(),
          true,
          -1);

  private static ClusterStatus.Answer answer(String node, NodeLogs.Group... groups) {
    NodeLogs.Levels levels = new NodeLogs.Levels(3, "n1".equals(node) ? 2 : 1, "0.3.0");
    NodeLogs logs =
        new NodeLogs(
            node,
            "host-" + node,
            List.of(groups),
            levels,
            new NodeLogs.Disk(7L << 30, 1 << 30),
            "n1".equals(node) ? Map.of("n3", 15_000L) : Map.of());
    return new ClusterStatus.Answer(true, NodeLogs.decode(new ByteReader(logs.encode().view())));
  }

  private static JsonObject log(JsonObject status, String name) {
    return status.getJsonArray("logs").stream()
        .map(JsonObject.class::cast)
        .filter(log -> log.getString("group").equals(name))
        .findFirst()
        .orElseThrow();
  }

  @Test
  void theLeaderIsBelievedAndWhatNobodySaidIsNull() {
    ClusterStatus status =
        new ClusterStatus(
            VIEW,
            Map.of(
                "n1",
                answer(
                    "n1",
                    new NodeLogs.Group(
                        "meta",
                        "n1",
                        4,
                        true,
                        90,
                        90,
                        Map.of("n2", 88L, "n3", -1L),
                        new NodeLogs.Condition(
                            Map.of(),
                            new StateDigest(1, 7, new TreeMap<>(Map.of(64L, 1L, 91L, 255L))),
                            Map.of("n2", "since entry 70"),
                            null)),
                    new NodeLogs.Group(
                        "d0",
                        null,
                        7,
                        false,
                        5,
                        5,
                        Map.of(),
                        new NodeLogs.Condition(Map.of(), null, Map.of(), null))),
                "n2",
                answer(
                    "n2",
                    new NodeLogs.Group(
                        "meta",
                        "n1",
                        4,
                        false,
                        88,
                        87,
                        Map.of(),
                        new NodeLogs.Condition(
                            Map.of("DISK_FULL", "9 bytes"), null, Map.of(), null)),
                    new NodeLogs.Group(
                        "d0",
                        "n3",
                        6,
                        true,
                        4,
                        4,
                        Map.of(),
                        new NodeLogs.Condition(
                            Map.of(), null, Map.of(), new NodeLogs.Bodies(70, 30, 2)))),
                "n3",
                ClusterStatus.Answer.GONE));
    assertThat(status.metaLeader()).isEqualTo("n1");
    JsonObject json = RecordJson.of(ClusterStatusView.class).write(status.view(null, null));
    assertThat(json.getString("cluster")).isEqualTo("id");
    assertThat(json.getString("node")).isEqualTo("n2");
    assertThat(json.containsKey("dispatcher")).isTrue();
    assertThat(json.getString("dispatcher")).isNull();
    assertThat(json.getJsonArray("nodes"))
        .isEqualTo(
            new JsonArray(
                "[{\"node\":\"n1\",\"alive\":true,\"host\":\"host-n1\",\"version\":\"0.3.0\",\"featureLevel\":3,"
                    + "\"disk\":{\"freeBytes\":7516192768,\"freeBytesMin\":1073741824},"
                    + "\"unanswered\":[{\"node\":\"n3\",\"millis\":15000}]},"
                    + "{\"node\":\"n2\",\"alive\":true,\"host\":\"host-n2\",\"version\":\"0.3.0\",\"featureLevel\":3,"
                    + "\"disk\":{\"freeBytes\":7516192768,\"freeBytesMin\":1073741824},\"unanswered\":[]},"
                    + "{\"node\":\"n3\",\"alive\":false,\"host\":null,\"version\":null,\"featureLevel\":null,\"disk\":null,"
                    + "\"unanswered\":null}]"));
    assertThat(json.getInteger("featureLevel")).as("some may not know yet").isEqualTo(2);
    assertThat(log(json, "meta"))
        .isEqualTo(
            new JsonObject(
                "{\"group\":\"meta\",\"leader\":\"n1\",\"term\":4,\"commitIndex\":90,"
                    + "\"appliedIndex\":90,\"followers\":["
                    + "{\"node\":\"n2\",\"matchIndex\":88,\"lagEntries\":2},"
                    + "{\"node\":\"n3\",\"matchIndex\":null,\"lagEntries\":null}],"
                    + "\"storage\":[],"
                    + "\"ineligible\":[{\"node\":\"n2\",\"reason\":\"DISK_FULL\","
                    + "\"detail\":\"9 bytes\"}],"
                    + "\"digests\":[{\"node\":\"n1\",\"appliedIndex\":90,\"since\":7,"
                    + "\"digest\":\"00000000000000ff\"}],"
                    + "\"diverged\":[{\"node\":\"n1\",\"from\":\"n2\","
                    + "\"detail\":\"since entry 70\"}]}"));
    JsonObject d0 = log(json, "d0");
    assertThat(d0.getString("leader")).as("an old leader is not believed").isNull();
    assertThat(d0.getLong("term")).isEqualTo(7);
    assertThat(d0.getLong("commitIndex")).isNull();
    assertThat(d0.getJsonArray("followers")).hasSize(3);
    assertThat(d0.getJsonArray("storage"))
        .isEqualTo(
            new JsonArray(
                "[{\"node\":\"n2\",\"liveBytes\":70,\"deadBytes\":30,\"lostMessages\":2}]"));
    assertThat(log(json, "d1").getLong("term")).isNull();
  }

  @Test
  void aNodeThatDoesNotAnswerIsNeitherAliveNorDead() {
    ClusterStatusView status =
        new ClusterStatus(VIEW, Map.of("n1", ClusterStatus.Answer.SILENT)).view("n1", null);
    JsonObject json = RecordJson.of(ClusterStatusView.class).write(status);
    for (Object node : json.getJsonArray("nodes")) {
      assertThat(((JsonObject) node).containsKey("alive")).isTrue();
      assertThat(((JsonObject) node).getBoolean("alive")).isNull();
    }
  }
}
