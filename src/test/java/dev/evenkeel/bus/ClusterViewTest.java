package dev.evenkeel.bus;

import static org.assertj.core.api.Assertions.assertThat;

import dev.evenkeel.protocol.TopicConfig;
import dev.evenkeel.protocol.TopicInfo;
import io.vertx.core.json.JsonObject;
import java.util.List;
import org.junit.jupiter.api.Test;

class ClusterViewTest {
  @Test
  void clientsThatKnowNoLayoutsDoNotSeeTopicsWithOthers() {
    TopicInfo first = new TopicInfo(1, "a", 4, TopicConfig.DEFAULT, TopicInfo.State.ACTIVE, 7);
    TopicInfo resharded =
        new TopicInfo(
            2,
            "b",
            List.of(new TopicInfo.Layout(0, 4, 7), new TopicInfo.Layout(4, 3, 8)),
            null,
            TopicConfig.DEFAULT,
            TopicInfo.State.ACTIVE,
            7);
    TopicInfo last =
        new TopicInfo(
            3,
            "c",
            List.of(new TopicInfo.Layout(4, 3, 8)),
            null,
            TopicConfig.DEFAULT,
            TopicInfo.State.ACTIVE,
            7);
    ClusterView view =
        new ClusterView(
            "cluster",
            "n1",
            "n1",
            List.of("n1"),
            List.of("n1"),
            List.of(first, resharded, last),
            3,
            List.of(2L),
            true,
            12);
    JsonObject json = view.toJson();
    assertThat(json.getJsonArray("topics")).hasSize(1);
    assertThat(json.getJsonArray("topics").getJsonObject(0).getString("name")).isEqualTo("a");
    assertThat(json.getJsonArray("reshardedTopics")).hasSize(2);
    assertThat(ClusterView.fromJson(new JsonObject(json.encode()))).isEqualTo(view);
  }
}
