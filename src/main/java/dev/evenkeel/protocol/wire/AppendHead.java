package dev.evenkeel.protocol.wire;

import static dev.evenkeel.protocol.Refusal.INVALID;

import dev.evenkeel.protocol.RefusedException;
import dev.evenkeel.protocol.Shard;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What the log keeps of an {@link AppendBody}: the same bytes without the messages, {@code (i32
 * topicId, i32 shard, [i64 dueMillis, [origin,]] header)*}. Batches are decided about by their
 * heads alone, so that the messages are written once, apart from the log.
 */
public final class AppendHead {
  private AppendHead() {}

  /**
   * One batch of the body.
   *
   * @param dueMillis as {@link AppendBody.Item#dueMillis()}
   * @param origin as {@link AppendBody.Item#origin()}
   * @param at where the batch begins in the body
   */
  public record Item(
      Shard shard, BatchHeader batch, long dueMillis, @Nullable DelayedOrigin origin, int at) {
    public boolean delayed() {
      return dueMillis != 0;
    }
  }

  /** Writes what the log keeps of one batch. */
  public static void write(Bytes out, AppendBody.Item item) {
    AppendBody.writePlace(out, item);
    byte[] header = new byte[BatchHeader.BYTES];
    item.batch().bytes().get(0, header);
    out.raw(header);
  }

  /**
   * Cuts a head into batches without copying them.
   *
   * @throws RefusedException INVALID if it is malformed
   */
  public static List<Item> read(ByteBuffer head) {
    ByteBuffer in = head.slice();
    List<Item> items = new ArrayList<>(4);
    int at = 0;
    while (in.hasRemaining()) {
      int from = in.position();
      AppendBody.Place place = AppendBody.readPlace(in);
      if (in.remaining() < BatchHeader.BYTES) {
        throw INVALID.error("truncated append: no header of a batch");
      }
      at += in.position() - from;
      BatchHeader batch = BatchHeader.of(in.slice(in.position(), BatchHeader.BYTES));
      in.position(in.position() + BatchHeader.BYTES);
      items.add(new Item(place.shard(), batch, place.dueMillis(), place.origin(), at));
      at += batch.length();
    }
    if (items.isEmpty()) {
      throw INVALID.error("an append without a batch");
    }
    return items;
  }
}
