package dev.evenkeel.client.internal.member;

import static org.assertj.core.api.Assertions.assertThat;

import dev.evenkeel.client.ConsumerOptions;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** A warm-up that broke off would leave the first hand-over slow without anybody noticing. */
class WarmUpTest {
  @ParameterizedTest
  @CsvSource({
    "SHARD, true",
    "SHARD, false",
    "KEY, true",
    "KEY, false",
    "NONE, true",
    "NONE, false"
  })
  void aShardIsPlayedThroughToItsRelease(ConsumerOptions.Order order, boolean keepsState) {
    WarmUp warmUp = new WarmUp(order, keepsState);
    assertThat(warmUp.play()).isEqualTo(20);
    assertThat(warmUp.play()).isEqualTo(20);
  }
}
