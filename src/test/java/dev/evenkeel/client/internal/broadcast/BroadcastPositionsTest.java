package dev.evenkeel.client.internal.broadcast;

import static org.assertj.core.api.Assertions.assertThat;

import dev.evenkeel.protocol.Shard;
import dev.evenkeel.protocol.StartAt;
import dev.evenkeel.protocol.TopicConfig;
import dev.evenkeel.protocol.TopicInfo;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class BroadcastPositionsTest {
  private static final TopicConfig CONFIG = new TopicConfig(0, -1, -1);

  private static TopicInfo topic(int id, int shards) {
    return new TopicInfo(id, "t", shards, CONFIG, TopicInfo.State.ACTIVE, 0);
  }

  private static BroadcastPositions.Beginning at(int id, int shard, StartAt start) {
    return new BroadcastPositions.Beginning(new Shard(id, shard), start);
  }

  @Test
  void theFirstTimeItBeginsAsTold() {
    BroadcastPositions positions = new BroadcastPositions("g", "m", StartAt.LATEST);
    assertThat(positions.beginnings(topic(1, 2), List.of()))
        .containsExactly(at(1, 0, StartAt.LATEST), at(1, 1, StartAt.LATEST));
    positions.begin(topic(1, 2), Map.of(new Shard(1, 0), 5L, new Shard(1, 1), 7L));
    assertThat(positions.beginnings(topic(1, 2), List.of())).isEmpty();
    assertThat(positions.next(new Shard(1, 1))).isEqualTo(7);
    assertThat(positions.next(new Shard(1, 2))).isEqualTo(-1);
    assertThat(positions.next(new Shard(2, 0))).isEqualTo(-1);
  }

  @Test
  void shardsThatComeLaterAreReadFromTheirBeginning() {
    BroadcastPositions positions = new BroadcastPositions("g", "m", StartAt.LATEST);
    positions.begin(topic(1, 1), Map.of(new Shard(1, 0), 5L));
    assertThat(positions.beginnings(topic(1, 3), List.of()))
        .containsExactly(at(1, 1, StartAt.EARLIEST), at(1, 2, StartAt.EARLIEST));
    positions.begin(
        topic(1, 3), Map.of(new Shard(1, 1), 0L, new Shard(1, 2), 0L, new Shard(1, 0), 9L));
    assertThat(positions.next(new Shard(1, 0))).as("known already").isEqualTo(5);
  }

  @Test
  void aTopicThatIsCreatedAfterOthersOfItsPatternIsReadFromItsBeginning() {
    BroadcastPositions positions = new BroadcastPositions("g", "m", StartAt.LATEST);
    TopicInfo former = new TopicInfo(1, "a-1", 1, CONFIG, TopicInfo.State.ACTIVE, 0);
    TopicInfo first = new TopicInfo(2, "a-2", 1, CONFIG, TopicInfo.State.ACTIVE, 0);
    TopicInfo later = new TopicInfo(3, "a-3", 1, CONFIG, TopicInfo.State.ACTIVE, 0);
    List<String> byPattern = List.of("a-*");
    // Nobody knows yet where the first two begin.
    assertThat(positions.beginnings(former, byPattern)).containsExactly(at(1, 0, StartAt.LATEST));
    assertThat(positions.beginnings(first, byPattern)).containsExactly(at(2, 0, StartAt.LATEST));
    positions.begin(former, Map.of(new Shard(1, 0), 5L));
    assertThat(positions.beginnings(first, byPattern)).containsExactly(at(2, 0, StartAt.LATEST));
    assertThat(positions.beginnings(later, List.of("b*", "a-*")))
        .containsExactly(at(3, 0, StartAt.EARLIEST));
    assertThat(positions.beginnings(topic(4, 1), List.of()))
        .containsExactly(at(4, 0, StartAt.LATEST));
    assertThat(positions.beginnings(topic(5, 1), List.of("t*")))
        .containsExactly(at(5, 0, StartAt.LATEST));
  }

  @Test
  void aTopicMadeAgainIsAnotherOne() {
    BroadcastPositions positions = new BroadcastPositions("g", "m", StartAt.LATEST);
    positions.begin(topic(1, 1), Map.of(new Shard(1, 0), 5L));
    assertThat(positions.wasAnother(topic(1, 1))).isFalse();
    assertThat(positions.wasAnother(topic(2, 1))).isTrue();
    assertThat(positions.beginnings(topic(2, 1), List.of()))
        .containsExactly(at(2, 0, StartAt.EARLIEST));
    positions.begin(topic(2, 1), Map.of(new Shard(2, 0), 0L));
    assertThat(positions.next(new Shard(2, 0))).isZero();
    assertThat(positions.next(new Shard(1, 0))).isEqualTo(-1);
    assertThat(positions.offsets().topics()).hasSize(1);
  }

  @Test
  void progressNeverGoesBackAndIsWhatIsStored() throws Offsets.DamagedException {
    BroadcastPositions positions = new BroadcastPositions("g", "m", StartAt.EARLIEST);
    positions.cluster("c");
    positions.begin(topic(1, 2), Map.of(new Shard(1, 0), 0L, new Shard(1, 1), 0L));
    positions.done(new Shard(1, 0), 8);
    positions.done(new Shard(1, 0), 6);
    positions.done(new Shard(1, 7), 6);
    Offsets stored = Offsets.decode(positions.offsets().encode());
    BroadcastPositions again = new BroadcastPositions(stored, StartAt.LATEST);
    assertThat(again.cluster()).isEqualTo("c");
    assertThat(again.member()).isEqualTo("m");
    assertThat(again.next(new Shard(1, 0))).isEqualTo(8);
    assertThat(again.next(new Shard(1, 1))).isZero();
    assertThat(again.next(new Shard(1, 7))).isEqualTo(-1);
    assertThat(again.beginnings(topic(1, 2), List.of())).isEqualTo(List.of());
  }
}
