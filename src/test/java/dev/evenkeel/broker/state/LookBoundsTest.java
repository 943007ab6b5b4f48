package dev.evenkeel.broker.state;

import static dev.evenkeel.broker.machine.Rig.SHARD;
import static org.assertj.core.api.Assertions.assertThat;

import dev.evenkeel.broker.Bombs;
import dev.evenkeel.protocol.Limits;
import dev.evenkeel.protocol.Message;
import dev.evenkeel.protocol.wire.Batch;
import dev.evenkeel.protocol.wire.BatchBuilder;
import java.util.Map;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import org.junit.jupiter.api.Test;

class LookBoundsTest {
  private static Batch plain(int payloadBytes) {
    BatchBuilder builder = new BatchBuilder(64);
    builder.add(new Message(null, Map.of(), 0, new byte[payloadBytes]));
    return builder.build(0, 0, 0);
  }

  private static TailCache cache(int batches, Batch batch) {
    TailCache cache = new TailCache(new TailMemory(4 << 20));
    for (int i = 0; i < batches; i++) {
      cache.add(SHARD, (long) i * batch.count(), batch.bytes().duplicate(), i);
    }
    return cache;
  }

  private static int looked(int batches, Batch batch) {
    return cache(batches, batch).look(SHARD, 0, (long) batches * batch.count()).size();
  }

  @Test
  void oneBatchThatUnpacksToTheMostIsALook() {
    assertThat(looked(100, Bombs.ofMessages(0, 0))).isEqualTo(1);
    assertThat(looked(100, Bombs.ofBytes())).isEqualTo(1);
  }

  @Test
  void batchesThatAreNotCompressedAreBoundedByTheirBytesAndTheirNumber() {
    assertThat(looked(5_000, plain(1))).isEqualTo(LookBounds.BATCHES);
    int bytes = plain(2_000).length();
    assertThat(looked(1_000, plain(2_000))).isEqualTo(LookBounds.BYTES / bytes);
  }

  /** Whatever comes, a look takes no more than the bounds and one batch. */
  @Property
  void aLookIsBounded(@ForAll @IntRange(min = 1, max = Limits.BATCH_MESSAGES_MAX) int messages) {
    LookBounds look = new LookBounds();
    long taken = 0;
    while (look.take(messages, 4L * messages)) {
      taken += messages;
    }
    assertThat(taken).isBetween((long) messages, (long) LookBounds.MESSAGES);
    LookBounds large = new LookBounds();
    assertThat(large.take(1, Limits.BATCH_BYTES_MAX + 100L)).isTrue();
    assertThat(large.take(1, Limits.BATCH_BYTES_MAX)).isFalse();
  }
}
