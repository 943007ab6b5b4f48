package dev.evenkeel.broker.state;

import static dev.evenkeel.Loops.times;
import static org.assertj.core.api.Assertions.assertThat;

import dev.evenkeel.protocol.Compression;
import dev.evenkeel.protocol.Message;
import dev.evenkeel.protocol.wire.Batch;
import dev.evenkeel.protocol.wire.BatchBuilder;
import dev.evenkeel.protocol.wire.BatchPacker;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class KeptPartTest {
  private static final int BATCHES = 8;
  private static final int MESSAGES = 50;

  private final List<KeptPart.Needed> all = new ArrayList<>();

  /** Of messages that compress well. */
  private ByteBuffer body() {
    List<Batch> batches = new ArrayList<>();
    int at = 0;
    for (int i = 0; i < BATCHES; i++) {
      BatchBuilder builder = new BatchBuilder(4_096, BatchPacker.of(Compression.LZ4));
      times(MESSAGES, position -> builder.add(new Message(null, null, 1, new byte[1_024])));
      Batch batch = builder.build(0, 0, 0);
      for (int position = 0; position < MESSAGES; position++) {
        BatchPlace place = new BatchPlace(7, at, batch.crc());
        all.add(new KeptPart.Needed(place, batch.length(), position));
      }
      batches.add(batch);
      at += batch.length();
    }
    ByteBuffer body = ByteBuffer.allocate(at);
    batches.forEach(each -> body.put(each.bytes().duplicate()));
    return body.flip();
  }

  /** Unpacked, a body may be hundreds of times as large: more than a node has memory for. */
  @Test
  void aBodyIsNotUnpackedFurtherThanItsOwnLength() {
    ByteBuffer body = body();
    assertThat(body.remaining()).isLessThan(BATCHES * 1_024);
    assertThat(KeptPart.of(body, all)).isNull();
    KeptPart one = KeptPart.of(body, all.subList(3, 4));
    assertThat(one).isNotNull();
    assertThat(one.message(all.get(3).place(), 3).payload()).hasSize(1_024);
    assertThat(one.message(all.get(4).place(), 4)).isNull();
  }
}
