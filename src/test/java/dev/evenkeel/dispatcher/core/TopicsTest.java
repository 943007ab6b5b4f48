package dev.evenkeel.dispatcher.core;

import static org.assertj.core.api.Assertions.assertThat;

import dev.evenkeel.bus.Assignment.Origin;
import dev.evenkeel.protocol.Shard;
import dev.evenkeel.protocol.TopicConfig;
import dev.evenkeel.protocol.TopicInfo;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** Two shards, then four (2 to 5), then two again (6 and 7). */
class TopicsTest {
  private static final Topics TOPICS =
      new Topics(
          List.of(
              new TopicInfo(1, "t", 2, TopicConfig.DEFAULT, TopicInfo.State.ACTIVE, 1)
                  .opening(4, List.of())
                  .opened(2)
                  .opening(2, List.of())
                  .opened(3)));

  private static Origin origin(int shard, Integer... passedOver) {
    return TOPICS.origin(new Shard(1, shard), each -> Set.of(passedOver).contains(each.shard()));
  }

  @Test
  void itsKeysComeFromTheShardsBeforeIt() {
    assertThat(origin(0)).isNull();
    assertThat(origin(2)).isEqualTo(new Origin(List.of(0), List.of(0), 2, 4));
    assertThat(origin(4)).isEqualTo(new Origin(List.of(0), List.of(), 2, 4));
    assertThat(origin(6)).isEqualTo(new Origin(List.of(2, 4), List.of(2, 4), 6, 2));
  }

  @Test
  void whatAShardWithoutMessagesTookOverIsWithItsParents() {
    assertThat(origin(6, 2, 4)).isEqualTo(new Origin(List.of(0), List.of(0), 6, 2));
    assertThat(origin(6, 4)).isEqualTo(new Origin(List.of(0, 2), List.of(2), 6, 2));
    assertThat(origin(6, 2)).isEqualTo(new Origin(List.of(0, 4), List.of(0, 4), 6, 2));
    assertThat(origin(2, 0)).as("there is nothing before").isEqualTo(origin(2));
  }
}
