package dev.evenkeel.broker.serve;

import static dev.evenkeel.Loops.each;
import static org.assertj.core.api.Assertions.assertThat;

import dev.evenkeel.broker.state.ShardRecord;
import dev.evenkeel.broker.state.TailCache;
import dev.evenkeel.broker.state.TailMemory;
import dev.evenkeel.broker.state.TailRead;
import dev.evenkeel.bus.FetchAnswer;
import dev.evenkeel.bus.Frames;
import dev.evenkeel.protocol.Message;
import dev.evenkeel.protocol.Shard;
import dev.evenkeel.protocol.wire.Batch;
import dev.evenkeel.protocol.wire.BatchBuilder;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.internal.buffer.BufferInternal;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.Size;
import org.junit.jupiter.api.Test;

class FetchFrameTest {
  private static final Shard SHARD = new Shard(1, 0);
  private static final int LARGE = 2 * FetchFrame.VIEW_BYTES_MIN;

  private static ShardRecord shard(long start, long end) {
    return new ShardRecord(start, end, 0, 0, 0, 0, 0, false);
  }

  private static Batch batch(int payloadBytes, boolean readOnly) {
    byte[] payload = new byte[payloadBytes];
    new Random(payloadBytes).nextBytes(payload);
    BatchBuilder builder = new BatchBuilder(64);
    builder.add(new Message(null, Map.of(), 5, payload));
    Batch built = builder.build(7, 1, 12);
    return readOnly ? new Batch(built.bytes().asReadOnlyBuffer()) : built;
  }

  /** As the event bus sends it to another node. */
  private static Buffer sent(Buffer frame) {
    return Buffer.buffer().appendBuffer(frame);
  }

  /** Whether sizes are small or large decides how a frame is made, and nothing else. */
  @Property(tries = 100)
  void aFrameHasTheBatchesInTheirOrder(
      @ForAll @Size(max = 20) List<@IntRange(min = 0, max = LARGE) Integer> sizes,
      @ForAll boolean readOnly,
      @ForAll boolean placed) {
    TailCache cache = new TailCache(new TailMemory(1 << 20));
    List<Batch> batches = new ArrayList<>();
    long offset = 10;
    for (int size : sizes) {
      batches.add(batch(size, readOnly));
      cache.add(SHARD, offset, batches.get(batches.size() - 1).bytes(), 7);
      offset += 1;
    }
    FetchFrame form = placed ? FetchFrame.placed(2) : FetchFrame.FORMER;
    Buffer frame = form.of(shard(3, 15), 4, cache.read(SHARD, 10, offset, 1 << 20, 100));
    for (Buffer each : List.of(frame, sent(frame), sent(frame))) {
      FetchAnswer answer = FetchAnswer.decode(Frames.answerBody(each), placed);
      assertThat(answer.startOffset()).isEqualTo(3);
      assertThat(answer.endOffset()).isEqualTo(Math.max(15, offset));
      assertThat(answer.failures()).isEqualTo(4);
      assertThat(answer.batches()).hasSameSizeAs(batches);
      for (int i = 0; i < sizes.size(); i++) {
        assertThat(answer.batches().get(i).baseOffset()).isEqualTo(10 + i);
        assertThat(answer.batches().get(i).batch().verified().bytes())
            .isEqualTo(batches.get(i).bytes());
      }
    }
  }

  /** Whether an answer with a batch of this size keeps the memory that the batch is in. */
  private static boolean keepsMemory(int payloadBytes) {
    TailCache cache = new TailCache(new TailMemory(8 << 20));
    cache.add(SHARD, 0, batch(payloadBytes, false).bytes(), 7);
    TailRead found = cache.read(SHARD, 0, 1, 1, 1);
    assertThat(found.keptBytes()).isEqualTo(256 << 10);
    Buffer frame = FetchFrame.placed(2).of(shard(0, 1), 0, found);
    List<byte[]> kept = new ArrayList<>();
    each(((BufferInternal) frame).getByteBuf().nioBuffers(), part -> kept.add(part.array()));
    boolean[] keeps = new boolean[1];
    found.each(
        true, (memory, from, length) -> keeps[0] |= kept.stream().anyMatch(each -> each == memory));
    return keeps[0];
  }

  @Test
  void largeBatchesAreNotCopied() {
    assertThat(keepsMemory(64 << 10)).isTrue();
  }

  /**
   * Slow clients would keep a large part of the newest batches alive, each by a few bytes of it.
   */
  @Test
  void anAnswerDoesNotKeepMuchMoreMemoryThanItHasBytes() {
    assertThat(keepsMemory(LARGE)).isFalse();
    assertThat(keepsMemory((256 << 10) / FetchFrame.VIEW_KEEPS_MAX - 1_000)).isFalse();
  }
}
