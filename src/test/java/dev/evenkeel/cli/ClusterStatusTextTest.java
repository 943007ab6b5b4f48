package dev.evenkeel.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.evenkeel.api.ClusterStatusView;
import dev.evenkeel.api.RecordJson;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import org.junit.jupiter.api.Test;

class ClusterStatusTextTest {
  private static String text(String storage) {
    JsonObject meta = new JsonObject().put("group", "meta").put("leader", "n1");
    JsonObject d0 = JsonObject.of("group", "d0", "leader", "n1", "storage", new JsonArray(storage));
    return text(
        new JsonObject()
            .put("cluster", "c")
            .put("dispatcher", "n1")
            .put("featureLevel", 3)
            .put("nodes", new JsonArray())
            .put("logs", new JsonArray().add(meta).add(d0)));
  }

  private static String text(JsonObject cluster) {
    return ClusterCommand.statusText(RecordJson.of(ClusterStatusView.class).read(cluster));
  }

  private static String stored(String node, long lostMessages) {
    return "{\"node\":\"%s\",\"liveBytes\":7,\"deadBytes\":0,\"lostMessages\":%s}"
        .formatted(node, lostMessages);
  }

  @Test
  void lostMessagesAreNamedWithTheNodesThatKnowThem() {
    assertThat(text("[" + stored("n1", 2) + "," + stored("n2", 0) + "," + stored("n3", 5) + "]"))
        .endsWith(
            "\n\nlost messages of d0: 5."
                + " Every copy of them is damaged; the log of n1 or n3 names them\n");
  }

  @Test
  void aLinkThatDoesNotAnswerIsNamedWithBothNodes() {
    JsonObject n1 =
        new JsonObject("{\"node\":\"n1\",\"unanswered\":[{\"node\":\"n3\",\"millis\":15000}]}");
    JsonObject n2 = new JsonObject("{\"node\":\"n2\",\"unanswered\":null}");
    assertThat(
            text(JsonObject.of("nodes", new JsonArray().add(n1).add(n2), "logs", new JsonArray())))
        .containsOnlyOnce("has had no answer")
        .contains("\nn1 has had no answer from n3 for 15s\n");
  }

  @Test
  void withoutLostMessagesNothingIsSaid() {
    assertThat(text("[" + stored("n1", 0) + "]")).doesNotContain("lost").isEqualTo(text("[]"));
  }
}
