package dev.evenkeel.broker.serve;

import static org.assertj.core.api.Assertions.assertThat;

import dev.evenkeel.protocol.Limits;
import dev.evenkeel.protocol.ProducerIds;
import dev.evenkeel.protocol.Shard;
import java.util.List;
import org.junit.jupiter.api.Test;

/** The ids under which nodes move delayed batches. */
class DelayedProducerTest {
  /** Somebody could search a name of the same id, and then end it. */
  @Test
  void noNameHasSuchAnId() {
    long lowestOfNames = ProducerIds.ofName("any") & ~((1L << 60) - 1);
    for (int topic : List.of(1, 1 << 20, Integer.MAX_VALUE)) {
      for (int shard : List.of(0, Limits.SHARD_NUMBERS_MAX - 1)) {
        long id = DelayedMoves.producerId(new Shard(topic, shard));
        assertThat(id).isLessThan(lowestOfNames);
        assertThat(ProducerIds.isOfName(id)).as("so no session may use it").isTrue();
      }
    }
  }
}
