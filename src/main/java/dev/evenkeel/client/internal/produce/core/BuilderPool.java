package dev.evenkeel.client.internal.produce.core;

import dev.evenkeel.protocol.Compression;
import dev.evenkeel.protocol.wire.BatchBuilder;
import dev.evenkeel.protocol.wire.BatchPacker;
import java.util.ArrayDeque;
import java.util.Deque;
import org.jspecify.annotations.Nullable;

/** A pool of builders of batches, so that their memory is used again. */
public final class BuilderPool {
  private static final int IDLE_MAX = 16;
  private static final int FIRST_CAPACITY_BYTES = 4 << 10;

  private final Deque<BatchBuilder> idle = new ArrayDeque<>();
  private final @Nullable BatchPacker packer;

  /**
   * @param compression of all batches
   * @throws dev.evenkeel.protocol.RefusedException INVALID if its library is missing
   */
  public BuilderPool(Compression compression) {
    packer = BatchPacker.of(compression);
  }

  public BatchBuilder take() {
    BatchBuilder builder = idle.pollLast();
    return builder == null ? new BatchBuilder(FIRST_CAPACITY_BYTES, packer) : builder;
  }

  public void giveBack(BatchBuilder builder) {
    if (idle.size() < IDLE_MAX) {
      builder.clear();
      idle.addLast(builder);
    }
  }
}
