package dev.evenkeel.client.internal.consume;

import static org.assertj.core.api.Assertions.assertThat;

import dev.evenkeel.bus.Assignment;
import org.junit.jupiter.api.Test;

/** Under which epochs a shard may be worked on again after it was lost. */
class OwnedShardsTest {
  private final OwnedShards shards = new Shards().all();

  private OwnedShard take(long epoch) {
    return shards.take(new Assignment.Owned("t", Shards.SHARD, epoch, false, 0, 0));
  }

  @Test
  void aShardThatWasLostWithNothingBegunGoesOnUnderItsEpoch() {
    shards.gone(take(5));
    assertThat(take(5).inDoubt()).isFalse();
  }

  @Test
  void aShardThatWasLostWhileARetryRanGoesOnUnderTheNextEpochOnly() {
    OwnedShard shard = take(5);
    shard.handling.begin(Shards.task(shard, 1, true));
    shards.gone(shard);
    OwnedShard again = take(5);
    assertThat(again.inDoubt()).as("the retry may run twice").isTrue();
    shards.gone(again);
    assertThat(take(6).inDoubt()).isFalse();
  }
}
