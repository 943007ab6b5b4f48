package dev.evenkeel.bus;

import static org.assertj.core.api.Assertions.assertThat;

import dev.evenkeel.protocol.Shard;
import dev.evenkeel.protocol.TopicConfig;
import dev.evenkeel.protocol.TopicInfo;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.json.JsonObject;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
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
        Views.formed(
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

  /** A node of a former version does not send what it does not know. */
  @Test
  void aSettingThatIsMissingIsAsInANewTopic() {
    TopicConfig config = new TopicConfig(9, TopicConfig.DEFAULT.ageMillisMax(), 5);
    TopicInfo topic = new TopicInfo(1, "a", 4, config, TopicInfo.State.ACTIVE, 7);
    JsonObject json =
        Views.formed(
                "cluster",
                "n1",
                "n1",
                List.of("n1"),
                List.of("n1"),
                List.of(topic),
                3,
                List.of(2L),
                true,
                12)
            .toJson();
    json.getJsonArray("topics").getJsonObject(0).remove("ageMillisMax");
    assertThat(ClusterView.fromJson(json).topics()).containsExactly(topic);
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
            9,
            0);
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

  /** A change of a topic costs what it changes, not what there is. */
  @Test
  void anAnswerNamesOnlyWhatHasChanged() {
    List<TopicInfo> all = new ArrayList<>();
    for (int id = 1; id <= 3_000; id++) {
      all.add(topic(id, "t" + id, List.of()));
    }
    ClusterView known = topics(all, 100);
    TopicInfo other = topic(7, "t7", List.of()).configured(new TopicConfig(1, 2, 3));
    TopicInfo fresh = topic(3_001, "t3001", List.of());
    JsonObject answer = topics(List.of(other, fresh), 103).toJson(Set.of(9, 5_000));
    assertThat(answer.encode().length()).isLessThan(1_000);

    ClusterView now = ClusterView.fromJson(new JsonObject(answer.encode()), known);
    List<TopicInfo> expected = new ArrayList<>(all);
    expected.set(6, other);
    expected.remove(8);
    expected.add(fresh);
    assertThat(now.topics()).isEqualTo(expected);
    assertThat(now.metaIndex()).isEqualTo(103);
  }

  @Test
  void ifNothingHasChangedTheTopicsAreTheSameList() {
    ClusterView known = topics(List.of(topic(1, "t", List.of())), 100);
    JsonObject answer = topics(List.of(), 101).toJson(Set.of());
    assertThat(ClusterView.fromJson(answer, known).topics()).isSameAs(known.topics());
    // A node that is behind knows no later changes, and the asker keeps what it has.
    JsonObject behind = topics(List.of(), 90).toJson(Set.of());
    ClusterView merged = ClusterView.fromJson(behind, known).notOlderThan(known);
    assertThat(merged.topics()).isSameAs(known.topics());
    assertThat(merged.metaIndex()).isEqualTo(100);
  }

  @Test
  void aQuestionSaysWhatIsKnown() {
    ClusterView known = topics(List.of(), 100);
    assertThat(ViewSince.of(ViewSince.question(known))).isEqualTo(new ViewSince("c", 100, 0));
    assertThat(ViewSince.of(ViewSince.question(null))).isNull();
    assertThat(ViewSince.of(ViewSince.question(topics(List.of(), -1)))).isNull();
    for (String wrong : List.of("", "x", "[]", "{}", "{\"cluster\":1,\"metaIndex\":\"\"}")) {
      assertThat(ViewSince.of(Buffer.buffer(wrong))).isNull();
    }
  }

  private static ClusterView topics(List<TopicInfo> topics, long index) {
    return Views.formed(
        "c", "n1", "n1", List.of("n1"), List.of("n1"), topics, 3, List.of(2L), true, index);
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
        9,
        0);
  }

  private static TopicInfo topic(int id, String name, List<Integer> groups) {
    return new TopicInfo(id, name, 4, groups, TopicConfig.DEFAULT, TopicInfo.State.ACTIVE, 7);
  }
}
