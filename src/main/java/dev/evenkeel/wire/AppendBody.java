package dev.evenkeel.wire;

import dev.evenkeel.model.Refusal;
import dev.evenkeel.model.RefusedException;
import dev.evenkeel.model.Shard;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;

/**
 * Batches for shards of one log group, one after another: {@code (i32 topicId, i32 shard, batch)*}.
 * A producer sends it, and the log keeps it, in this form; several are joined by putting them one
 * behind the other.
 */
public final class AppendBody {
  /** Most batches of one request. */
  public static final int BATCHES_MAX = 4096;

  /** What stands before each batch. */
  public static final int SHARD_BYTES = 8;

  private AppendBody() {}

  /** A batch and where it goes. */
  public record Item(Shard shard, Batch batch) {}

  public static void write(Bytes out, Shard shard, Batch batch) {
    out.i32(shard.topicId()).i32(shard.shard());
    ByteBuffer bytes = batch.bytes();
    out.raw(bytes.array(), bytes.arrayOffset(), batch.length());
  }

  /**
   * Cuts the body into batches without copying them.
   *
   * @throws RefusedException if any of it is malformed; then none of it counts
   */
  public static List<Item> read(ByteBuffer body) {
    ByteBuffer in = body.slice();
    List<Item> items = new ArrayList<>(4);
    while (in.hasRemaining()) {
      if (in.remaining() < SHARD_BYTES) {
        throw new RefusedException(Refusal.INVALID, "truncated append: no shard before the batch");
      }
      if (items.size() == BATCHES_MAX) {
        throw new RefusedException(
            Refusal.TOO_LARGE, "more than " + BATCHES_MAX + " batches in one request");
      }
      Shard shard = new Shard(in.getInt(), in.getInt());
      items.add(new Item(shard, Batch.next(in)));
    }
    if (items.isEmpty()) {
      throw new RefusedException(Refusal.INVALID, "an append without a batch");
    }
    return items;
  }
}
