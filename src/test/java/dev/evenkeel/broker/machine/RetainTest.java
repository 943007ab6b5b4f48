package dev.evenkeel.broker.machine;

import static dev.evenkeel.broker.machine.Rig.SHARD;
import static dev.evenkeel.broker.machine.Rig.batch;
import static org.assertj.core.api.Assertions.assertThat;

import dev.evenkeel.broker.decide.RetainDecider;
import dev.evenkeel.broker.state.ShardRecord;
import dev.evenkeel.model.DataCommand;
import dev.evenkeel.model.Refusal;
import dev.evenkeel.model.TopicConfig;
import dev.evenkeel.store.Store;
import org.junit.jupiter.api.Test;

class RetainTest {
  private static final long HOUR = 3_600_000;
  private final Rig rig = new Rig();

  private ShardRecord shard() {
    return rig.tables().shard(SHARD);
  }

  private void retainAt(long millis) {
    rig.now = millis;
    rig.run(new DataCommand.Retain());
  }

  private void commit(String group, long offset) {
    rig.run(new DataCommand.Commit(group, SHARD, 1, offset));
  }

  @Test
  void keepsEverythingWhileNoGroupReads() {
    rig.open(new TopicConfig(0, -1, -1));
    rig.fill(SHARD, 10);
    retainAt(rig.now + 1000 * HOUR);
    assertThat(shard().start()).isZero();
  }

  @Test
  void dropsWholeBatchesOnceTheSlowestGroupConsumedThemLongEnoughAgo() {
    rig.open(TopicConfig.DEFAULT);
    for (int i = 0; i < 4; i++) {
      rig.fill(SHARD, 10);
    }
    long bytes = shard().bytes();
    rig.grant("slow", SHARD, "a", 0);
    rig.grant("fast", SHARD, "a", 0);
    commit("fast", 40);
    commit("slow", 25);
    long consumedAt = rig.now;
    for (long t = consumedAt; t < consumedAt + 24 * HOUR; t += HOUR / 4) {
      retainAt(t);
    }
    assertThat(shard().start()).isZero();

    retainAt(consumedAt + 24 * HOUR);
    assertThat(shard().start()).as("the batch that holds offset 25 begins at 20").isEqualTo(20);
    assertThat(shard().bytes()).isEqualTo(bytes / 2);
    assertThat(shard().dropped()).isZero();
    assertThat(rig.keys(Store.Table.BATCHES)).hasSize(2);
    assertThat(rig.keys(Store.Table.INDEX)).hasSize(2);
    assertThat(rig.tables().marks(SHARD).list()).hasSizeLessThanOrEqualTo(25);
  }

  @Test
  void aGroupThatCameLaterKeepsWhatItHasNotConsumed() {
    rig.open(new TopicConfig(1000, -1, -1));
    rig.fill(SHARD, 10);
    rig.grant("g", SHARD, "a", 0);
    commit("g", 10);
    retainAt(rig.now);
    rig.grant("late", SHARD, "a", 0);
    retainAt(rig.now + 1000);
    assertThat(shard().start()).isZero();
    commit("late", 10);
    for (int i = 0; i < 50; i++) {
      retainAt(rig.now + 42);
    }
    assertThat(shard().start()).isEqualTo(10);
    assertThat(shard().bytes()).isZero();
    assertThat(rig.fill(SHARD, 1)).isEqualTo(10);
  }

  @Test
  void ageDropsWhatNobodyConsumedAndCountsIt() {
    rig.open(new TopicConfig(HOUR, HOUR, -1));
    rig.fill(SHARD, 10);
    rig.now += HOUR;
    rig.fill(SHARD, 10);
    rig.grant("g", SHARD, "a", 0);
    commit("g", 4);
    retainAt(rig.now + 1);
    assertThat(shard().start()).isEqualTo(10);
    assertThat(shard().dropped()).isEqualTo(6);
    assertThat(rig.tables().lease("g", SHARD).committed()).as("moves up").isEqualTo(10);
  }

  @Test
  void sizeDropsTheOldest() {
    rig.open(TopicConfig.DEFAULT);
    for (int i = 0; i < 10; i++) {
      rig.fill(SHARD, 10);
    }
    long each = shard().bytes() / 10;
    rig.run(new DataCommand.ConfigureShards(1, new TopicConfig(HOUR, -1, 3 * each + 1)));
    retainAt(rig.now);
    assertThat(shard().start()).isEqualTo(70);
    assertThat(shard().bytes()).isEqualTo(3 * each);
    assertThat(shard().dropped()).isEqualTo(70);
  }

  @Test
  void forgetsProducersThatAreSilentOrTooMany() {
    rig.open(TopicConfig.DEFAULT);
    rig.append(SHARD, batch(1, 0, 0, 1));
    rig.now += RetainDecider.PRODUCER_IDLE_MILLIS_MAX;
    for (int id = 2; id <= RetainDecider.PRODUCERS_MAX + 4; id++) {
      rig.now++;
      rig.append(SHARD, batch(id, 0, 0, 1));
    }
    retainAt(rig.now);
    assertThat(rig.tables().producers()).hasSize(RetainDecider.PRODUCERS_MAX);
    assertThat(rig.append(SHARD, batch(1, 0, 1, 1)).refusal()).isEqualTo(Refusal.UNKNOWN_PRODUCER);
    assertThat(rig.append(SHARD, batch(4, 0, 1, 1)).refusal()).isEqualTo(Refusal.UNKNOWN_PRODUCER);
    assertThat(rig.append(SHARD, batch(5, 0, 1, 1)).ok()).isTrue();
  }
}
