package dev.evenkeel.broker.state;

import static dev.evenkeel.broker.machine.Rig.OTHER;
import static dev.evenkeel.broker.machine.Rig.SHARD;
import static dev.evenkeel.broker.machine.Rig.batch;
import static org.assertj.core.api.Assertions.assertThat;

import dev.evenkeel.protocol.wire.Batch;
import java.util.List;
import org.junit.jupiter.api.Test;

class TailCacheTest {
  private final Batch batch = batch(0, 0, 0, 2);
  private final TailCache cache = new TailCache(3L * batch.length());

  private List<Long> read(long offset, int bytesMax) {
    return cache.read(SHARD, offset, 100, bytesMax, 1_000).stream()
        .map(TailCache.Cached::baseOffset)
        .toList();
  }

  @Test
  void readsFromTheMiddleOfABatchAndWithinTheBytesAskedFor() {
    cache.add(SHARD, 0, batch, 1);
    cache.add(SHARD, 2, batch, 1);
    assertThat(read(1, 1 << 20)).containsExactly(0L, 2L);
    assertThat(read(1, 1)).containsExactly(0L);
    assertThat(read(3, 2 * batch.length())).containsExactly(2L);
    assertThat(read(4, 1)).isEmpty();
    assertThat(cache.read(OTHER, 0, 100, 1, 1_000)).isEmpty();
  }

  @Test
  void whatIsAboveTheShownEndIsNotReadYet() {
    cache.add(SHARD, 0, batch, 1);
    cache.add(SHARD, 2, batch, 1);
    assertThat(cache.read(SHARD, 0, 2, 1 << 20, 1_000))
        .extracting(TailCache.Cached::endOffset)
        .containsExactly(2L);
    assertThat(cache.read(SHARD, 0, 4, 1 << 20, 1_000)).hasSize(2);
  }

  @Test
  void staysWithinItsBytesOverAllShards() {
    cache.add(SHARD, 0, batch, 1);
    cache.add(OTHER, 0, batch, 1);
    cache.add(SHARD, 2, batch, 1);
    cache.add(SHARD, 4, batch, 1);
    assertThat(cache.bytes()).isEqualTo(3L * batch.length());
    assertThat(read(0, 1 << 20)).isEmpty();
    assertThat(read(2, 1 << 20)).containsExactly(2L, 4L);
    cache.clear();
    assertThat(read(2, 1 << 20)).isEmpty();
  }

  @Test
  void neverReadsAcrossAGap() {
    cache.add(SHARD, 0, batch, 1);
    cache.add(SHARD, 4, batch, 1);
    assertThat(read(0, 1 << 20)).containsExactly(0L);
    assertThat(read(3, 1 << 20)).isEmpty();
  }
}
