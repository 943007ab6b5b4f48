package dev.evenkeel.bus;

import static org.assertj.core.api.Assertions.assertThat;

import dev.evenkeel.protocol.Shard;
import dev.evenkeel.protocol.TopicConfig;
import dev.evenkeel.protocol.TopicInfo;
import io.vertx.core.json.JsonObject;
import java.util.Arrays;
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
    assertThat(json.getJsonArray("topicsWithLayouts")).hasSize(2);
    assertThat(ClusterView.fromJson(new JsonObject(json.encode()))).isEqualTo(view);
  }

  @Test
  void clientsThatKnowNoAddedGroupsDoNotCountThem() {
    TopicInfo plain = topic(1, "a", List.of());
    TopicInfo placed = topic(2, "b", List.of(3, 1));
    ClusterView view =
        new ClusterView(
            "c",
            "n1",
            "n1",
            Arrays.asList("n1", "n2", null, "n4"),
            List.of("n1", "n2", "n4"),
            List.of(plain, placed),
            3,
            List.of(2L, 2L, 0L, 5L),
            true,
            12,
            List.of(),
            3,
            9);
    JsonObject json = view.toJson();
    assertThat(json.getJsonArray("dataLeaders")).hasSize(3);
    assertThat(json.getJsonArray("topics")).hasSize(1);
    assertThat(ClusterView.fromJson(new JsonObject(json.encode()))).isEqualTo(view);
    assertThat(view.leaderOf(new Shard(1, 0))).isEqualTo("n2");
    assertThat(view.leaderOf(new Shard(1, 2))).isEqualTo("n1");
    assertThat(view.leaderOf(new Shard(2, 0))).isEqualTo("n4");
    assertThat(view.leaderOf(new Shard(2, 1))).isEqualTo("n2");
    assertThat(view.leaderOf(new Shard(2, 2))).isEqualTo("n4");
  }

  @Test
  void aNodeThatIsBehindDoesNotMakeTheClientForgetGroups() {
    ClusterView known = view(List.of("n1", "n2"), 1, List.of(2L, 5L), 12);
    ClusterView behind = view(List.of("n3"), 1, List.of(3L), 11);
    ClusterView merged = behind.notOlderThan(known);
    assertThat(merged.dataLeaders()).containsExactly("n3", "n2");
    assertThat(merged.dataTerms()).containsExactly(3L, 5L);
    assertThat(merged.metaIndex()).isEqualTo(12);
  }

  private static ClusterView view(List<String> leaders, int formed, List<Long> terms, long index) {
    return new ClusterView(
        "c",
        "n1",
        "n1",
        leaders,
        List.of("n1", "n2", "n3"),
        List.of(),
        3,
        terms,
        true,
        index,
        List.of(),
        formed,
        9);
  }

  private static TopicInfo topic(int id, String name, List<Integer> groups) {
    return new TopicInfo(id, name, 4, groups, TopicConfig.DEFAULT, TopicInfo.State.ACTIVE, 7);
  }
}
