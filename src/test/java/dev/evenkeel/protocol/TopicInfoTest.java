package dev.evenkeel.protocol;

import static org.assertj.core.api.Assertions.assertThat;

import dev.evenkeel.protocol.wire.Murmur2;
import java.nio.charset.StandardCharsets;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import org.junit.jupiter.api.Test;

class TopicInfoTest {
  private static TopicInfo topic(int... shards) {
    var topic = new TopicInfo(1, "t", shards[0], TopicConfig.DEFAULT, TopicInfo.State.ACTIVE, 5);
    for (int i = 1; i < shards.length; i++) {
      topic = topic.opening(shards[i], List.of()).opened(10L * i);
    }
    return topic;
  }

  private static int shard(TopicInfo.Layout layout, String key) {
    byte[] bytes = key.getBytes(StandardCharsets.UTF_8);
    return layout.first() + Murmur2.shard(bytes, layout.shards());
  }

  @Test
  void numbersOfShardsAreNeverUsedAgain() {
    TopicInfo topic = topic(4, 12, 3);
    assertThat(topic.open()).isEqualTo(new TopicInfo.Layout(16, 3, 20));
    assertThat(topic.shards()).isEqualTo(3);
    assertThat(topic.numbers()).hasSize(19);
    assertThat(topic.isSealed(15)).isTrue();
    assertThat(topic.isSealed(16)).isFalse();
    TopicInfo rest = topic.withoutOldest(false);
    assertThat(rest.has(3)).isFalse();
    assertThat(rest.has(4)).isTrue();
    assertThat(rest.parents(4)).isEmpty();
    assertThat(rest.opening(5, List.of()).next()).isEqualTo(new TopicInfo.Layout(19, 5, 0));
    assertThat(rest.opening(5, List.of()).numbers()).hasSize(15);
  }

  @Test
  void aFewLayoutsAreRememberedThatAreGone() {
    TopicInfo topic = topic(4, 12, 3).withoutOldest(true);
    assertThat(topic.remembers(3)).isTrue();
    assertThat(topic.remembers(4)).isFalse();
    assertThat(topic.has(3)).isFalse();
    assertThat(topic.former()).extracting(TopicInfo.Layout::first).containsExactly(0, 4);
    for (int i = 0; i < 40; i++) {
      topic = topic.opening(5, List.of(1)).opened(30).withoutOldest(true);
    }
    assertThat(topic.dropped()).hasSize(TopicInfo.DROPPED_LAYOUTS_MAX);
    assertThat(topic.firstRemembered()).isEqualTo(topic.dropped().get(0).first()).isPositive();
    assertThat(topic.group(topic.firstRemembered(), 3)).as("where it was").isEqualTo(1);
    topic = topic.opening(2_000, List.of()).opened(40).withoutOldest(true);
    topic = topic.opening(1, List.of()).opened(50).withoutOldest(true).withoutOldest(true);
    assertThat(topic.dropped()).as("even one that is too large").hasSize(1);
  }

  @Test
  void aSplitHasOneParentAndAMergeSeveral() {
    TopicInfo topic = topic(4, 12, 3);
    assertThat(topic.parents(0)).isEmpty();
    assertThat(topic.parents(9)).containsExactly(1);
    assertThat(topic.children(1)).containsExactly(5, 9, 13);
    assertThat(topic.parents(17)).containsExactly(5, 8, 11, 14);
    assertThat(topic.children(17)).isEmpty();
  }

  @Property(tries = 200)
  void parentsAreExactlyTheShardsFromWhichKeysCome(
      @ForAll @IntRange(min = 1, max = 12) int before,
      @ForAll @IntRange(min = 1, max = 12) int after) {
    TopicInfo topic = topic(before, after);
    Set<List<Integer>> seen = new HashSet<>();
    for (int i = 0; i < 3_000; i++) {
      int parent = shard(topic.layouts().get(0), "key" + i);
      int child = shard(topic.open(), "key" + i);
      assertThat(topic.parents(child)).contains(parent);
      seen.add(List.of(parent, child));
    }
    topic
        .open()
        .numbers()
        .forEach(
            child -> {
              for (int parent : topic.parents(child)) {
                assertThat(seen).contains(List.of(parent, child));
                assertThat(topic.children(parent)).contains(child);
              }
            });
  }
}
