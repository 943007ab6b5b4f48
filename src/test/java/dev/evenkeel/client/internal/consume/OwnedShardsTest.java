package dev.evenkeel.client.internal.consume;

import static org.assertj.core.api.Assertions.assertThat;

import dev.evenkeel.bus.Assignment;
import dev.evenkeel.client.ConsumerOptions;
import dev.evenkeel.protocol.Shard;
import org.junit.jupiter.api.Test;

/** Under which epochs a shard may be worked on again after it was lost. */
class OwnedShardsTest {
  private static final Shard SHARD = new Shard(1, 0);

  private final OwnedShards held = new OwnedShards(ConsumerOptions.Order.SHARD, 32, 0);

  private OwnedShard take(long epoch) {
    return held.take(new Assignment.Owned("t", SHARD, epoch, false, 0, 0));
  }

  @Test
  void aShardThatWasLostWithNothingBegunGoesOnUnderItsEpoch() {
    held.gone(take(5));
    assertThat(take(5).doubt.exists()).isFalse();
  }

  @Test
  void aShardThatWasLostWhileARetryRanGoesOnUnderTheNextEpochOnly() {
    OwnedShard hold = take(5);
    hold.retriesRunning = 1;
    held.gone(hold);
    OwnedShard again = take(5);
    assertThat(again.doubt.exists()).as("the retry may run twice").isTrue();
    held.gone(again);
    assertThat(take(6).doubt.exists()).isFalse();
  }
}
