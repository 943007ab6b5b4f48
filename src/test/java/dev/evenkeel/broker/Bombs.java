package dev.evenkeel.broker;

import dev.evenkeel.protocol.Compression;
import dev.evenkeel.protocol.Limits;
import dev.evenkeel.protocol.Message;
import dev.evenkeel.protocol.wire.Batch;
import dev.evenkeel.protocol.wire.BatchBuilder;
import dev.evenkeel.protocol.wire.BatchPacker;
import java.util.Map;

/** The smallest batches with the most in them. */
public final class Bombs {
  private Bombs() {}

  /** As many messages as a batch can have, in less than 100 bytes. */
  public static Batch ofMessages(long producerId, long firstSequence) {
    BatchBuilder builder = new BatchBuilder(1 << 19, BatchPacker.of(Compression.ZSTD));
    Message empty = new Message(null, Map.of(), 0, new byte[0]);
    for (int i = 0; i < Limits.BATCH_MESSAGES_MAX; i++) {
      builder.add(empty);
    }
    return builder.build(producerId, 0, firstSequence);
  }

  /** One message with the largest payload. */
  public static Batch ofBytes() {
    BatchBuilder builder = new BatchBuilder(1 << 21, BatchPacker.of(Compression.ZSTD));
    builder.add(new Message(null, Map.of(), 0, new byte[Limits.PAYLOAD_BYTES_MAX]));
    return builder.build(0, 0, 0);
  }
}
