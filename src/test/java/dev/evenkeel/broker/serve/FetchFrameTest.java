package dev.evenkeel.broker.serve;

import static org.assertj.core.api.Assertions.assertThat;

import dev.evenkeel.broker.state.ShardRecord;
import dev.evenkeel.broker.state.TailCache.Cached;
import dev.evenkeel.bus.FetchAnswer;
import dev.evenkeel.bus.Frames;
import dev.evenkeel.protocol.Message;
import dev.evenkeel.protocol.wire.Batch;
import dev.evenkeel.protocol.wire.BatchBuilder;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.internal.buffer.BufferInternal;
import java.nio.ByteBuffer;
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
      @ForAll boolean readOnly) {
    List<Cached> batches = new ArrayList<>();
    long offset = 10;
    for (int size : sizes) {
      batches.add(new Cached(offset, batch(size, readOnly), 7));
      offset += 1;
    }
    Buffer frame = FetchFrame.FORMER.of(shard(3, 15), 4, batches);
    for (Buffer each : List.of(frame, sent(frame), sent(frame))) {
      FetchAnswer answer = FetchAnswer.decode(Frames.answerBody(each));
      assertThat(answer.startOffset()).isEqualTo(3);
      assertThat(answer.endOffset()).isEqualTo(Math.max(15, offset));
      assertThat(answer.failures()).isEqualTo(4);
      assertThat(answer.batches()).hasSameSizeAs(batches);
      for (int i = 0; i < sizes.size(); i++) {
        assertThat(answer.batches().get(i).baseOffset()).isEqualTo(10 + i);
        assertThat(answer.batches().get(i).batch().verified().bytes())
            .isEqualTo(batches.get(i).batch().bytes());
      }
    }
  }

  @Test
  void largeBatchesAreNotCopied() {
    Batch batch = batch(LARGE, false);
    Buffer frame = FetchFrame.FORMER.of(shard(0, 1), 0, List.of(new Cached(0, batch, 7)));
    ByteBuffer bytes = ((BufferInternal) frame).getByteBuf().nioBuffers()[1];
    assertThat(bytes.array()).isSameAs(batch.bytes().array());
  }
}
