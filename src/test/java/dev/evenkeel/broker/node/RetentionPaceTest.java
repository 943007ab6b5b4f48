package dev.evenkeel.broker.node;

import static dev.evenkeel.broker.machine.Rig.SHARD;
import static org.assertj.core.api.Assertions.assertThat;

import dev.evenkeel.broker.machine.Rig;
import dev.evenkeel.protocol.Commands;
import dev.evenkeel.protocol.DataCommand;
import dev.evenkeel.protocol.TopicConfig;
import org.junit.jupiter.api.Test;

/** A short retention takes effect soon, and an idle log gets an entry a minute. */
class RetentionPaceTest {
  private final Rig rig = new Rig();
  private final RetentionPace pace = new RetentionPace(rig.now);

  /** Time passes in steps of a second; returns how often retention ran. */
  private int pass(int seconds) {
    int runs = 0;
    for (int i = 0; i < seconds; i++) {
      rig.now += 1_000;
      if (pace.due(rig.tables(), rig.now)) {
        rig.run(new DataCommand.Retain());
        runs++;
      }
    }
    return runs;
  }

  private long start() {
    return rig.tables().shard(SHARD).start();
  }

  @Test
  void aShortRetentionTakesEffectWithinSeconds() {
    rig.open(new TopicConfig(1_000, -1, -1));
    rig.fill(SHARD, 10);
    rig.grant("g", SHARD, "m", 0);
    pass(600);
    rig.run(Commands.commit("g", SHARD, 1, 10));
    pass(4);
    assertThat(start()).isEqualTo(10);
  }

  @Test
  void aShortAgeTakesEffectWithinSeconds() {
    rig.open(new TopicConfig(24 * 3_600_000L, 10_000, -1));
    rig.fill(SHARD, 10);
    pass(15);
    assertThat(start()).isEqualTo(10);
  }

  @Test
  void anIdleLogGetsAnEntryAMinute() {
    rig.open(new TopicConfig(1_000, -1, -1));
    rig.fill(SHARD, 10);
    rig.grant("g", SHARD, "m", 0);
    rig.run(Commands.commit("g", SHARD, 1, 7));
    pass(60);
    assertThat(pass(600)).isEqualTo(10);
  }

  @Test
  void aLongRetentionNeedsNoMoreThanThat() {
    rig.open(TopicConfig.DEFAULT);
    for (int i = 0; i < 60; i++) {
      rig.fill(SHARD, 10);
      assertThat(pass(10)).isLessThanOrEqualTo(1);
    }
    assertThat(pass(600)).isEqualTo(10);
  }
}
