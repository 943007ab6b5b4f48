package dev.evenkeel.gateway.live;

import dev.evenkeel.Golden;
import dev.evenkeel.api.ClusterStatusView;
import dev.evenkeel.api.RecordJson;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;

/** What the page gets of made-up groups of every mode. */
class LiveGoldenTest {
  private static JsonArray all(JsonObject groups) {
    JsonArray all = new JsonArray();
    groups.forEach(each -> all.add(each.getValue()));
    return all;
  }

  @Test
  void whatThePageGetsIsAlwaysTheSame() throws IOException {
    var facts = new JsonObject(Files.readString(Path.of("src/test/resources/golden/facts.json")));
    LiveState state = new LiveState("n1", "1");
    StringBuilder shown = new StringBuilder();
    for (int i = 0; i < 3; i++) {
      JsonArray topics = facts.getJsonArray("topics").copy();
      topics.getJsonObject(0).put("end", 40 + 10 * i);
      JsonObject groups = facts.getJsonObject("groups").copy();
      groups
          .getJsonObject("sharded")
          .getJsonArray("members")
          .getJsonObject(0)
          .put("consumed", 7 + i);
      JsonObject answer =
          new JsonObject()
              .put("facts", new JsonObject().put("groups", all(groups)).put("topics", topics))
              .put("tag", "t" + i)
              .put("moves", facts.getJsonArray("moves"));
      state.looked("n1", answer, 1_000 + 500L * i);
      state.clusterKnown(
          RecordJson.of(ClusterStatusView.class).read(facts.getJsonObject("cluster")));
      shown.append(new JsonObject(state.patch()).encodePrettily()).append("\n\n");
    }
    state.clusterSilent();
    state.dispatcherSilent();
    shown.append(new JsonObject(state.patch()).encodePrettily()).append('\n');
    Golden.check("live.txt", shown.toString());
  }
}
