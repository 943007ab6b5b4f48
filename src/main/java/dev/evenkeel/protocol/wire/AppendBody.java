package dev.evenkeel.protocol.wire;

import static dev.evenkeel.protocol.Refusal.INVALID;
import static dev.evenkeel.protocol.Refusal.TOO_LARGE;

import dev.evenkeel.protocol.Limits;
import dev.evenkeel.protocol.RefusedException;
import dev.evenkeel.protocol.Shard;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Batches for shards of one log group, one after another: {@code (i32 topicId, i32 shard, batch)*}.
 * A producer sends it, and the log keeps it, in this form; several are joined by putting them one
 * behind the other.
 *
 * <p>A delayed batch is {@code (i32 topicId, i32 -1 - shard, i64 dueMillis, batch)}: shards are
 * never negative, and the batch itself is as any other. One that nodes move from a sealed shard is
 * {@code (i32 topicId, i32 -1 - shard, i64 -dueMillis, origin, batch)}, see {@link DelayedOrigin}.
 */
public final class AppendBody {
  /** Most batches of one request. */
  public static final int BATCHES_MAX = 4096;

  /** {@link #requests} have fewer bytes, unless they have one batch. */
  public static final int REQUEST_BYTES_MAX = 1 << 20;

  /** Bytes before each batch: topic and shard. */
  public static final int SHARD_BYTES = 8;

  private AppendBody() {}

  /** Bytes before a delayed batch: topic, shard and due time. */
  public static final int DELAYED_SHARD_BYTES = 16;

  /**
   * A batch and where it goes.
   *
   * @param dueMillis when the batch gets its offsets, milliseconds since 1970; 0: at once
   * @param origin of a delayed batch that nodes move
   */
  public record Item(Shard shard, Batch batch, long dueMillis, @Nullable DelayedOrigin origin) {
    public Item(Shard shard, Batch batch, long dueMillis) {
      this(shard, batch, dueMillis, null);
    }

    public Item(Shard shard, Batch batch) {
      this(shard, batch, 0);
    }

    /** Bytes of it in a body. */
    public int bytes() {
      int place = delayed() ? DELAYED_SHARD_BYTES : SHARD_BYTES;
      return place + (origin == null ? 0 : origin.bytes()) + batch.length();
    }

    public boolean delayed() {
      return dueMillis != 0;
    }
  }

  public static void write(Bytes out, Item item) {
    writePlace(out, item);
    ByteBuffer bytes = item.batch().bytes();
    out.raw(bytes.array(), bytes.arrayOffset(), item.batch().length());
  }

  /** Writes what stands before a batch. */
  static void writePlace(Bytes out, Item item) {
    int shard = item.shard().shard();
    out.i32(item.shard().topicId());
    if (item.origin() != null) {
      out.i32(-1 - shard).i64(-item.dueMillis());
      item.origin().write(out);
    } else if (item.delayed()) {
      out.i32(-1 - shard).i64(item.dueMillis());
    } else {
      out.i32(shard);
    }
  }

  public static void write(Bytes out, Shard shard, Batch batch) {
    write(out, new Item(shard, batch));
  }

  /** Cuts the batches for one log group into requests that it can take, in their order. */
  public static List<List<Item>> requests(List<Item> items) {
    List<List<Item>> requests = new ArrayList<>();
    List<Item> request = new ArrayList<>();
    long bytes = 0;
    long unpacked = 0;
    for (Item item : items) {
      bytes += item.bytes();
      unpacked += item.batch().unpackedLength();
      boolean full =
          bytes > REQUEST_BYTES_MAX
              || unpacked > Limits.APPEND_UNPACKED_BYTES_MAX / 4
              || request.size() == BATCHES_MAX;
      if (full && !request.isEmpty()) {
        requests.add(request);
        request = new ArrayList<>();
        bytes = item.bytes();
        unpacked = item.batch().unpackedLength();
      }
      request.add(item);
    }
    if (!request.isEmpty()) {
      requests.add(request);
    }
    return requests;
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
      if (items.size() == BATCHES_MAX) {
        throw TOO_LARGE.error("more than " + BATCHES_MAX + " batches in one request");
      }
      Place place = readPlace(in);
      items.add(new Item(place.shard(), Batch.next(in), place.dueMillis(), place.origin()));
    }
    if (items.isEmpty()) {
      throw INVALID.error("an append without a batch");
    }
    return items;
  }

  /** What stands before a batch. */
  record Place(Shard shard, long dueMillis, @Nullable DelayedOrigin origin) {}

  static Place readPlace(ByteBuffer in) {
    if (in.remaining() < SHARD_BYTES) {
      throw INVALID.error("truncated append: no shard before the batch");
    }
    int topicId = in.getInt();
    int shard = in.getInt();
    if (shard >= 0) {
      return new Place(new Shard(topicId, shard), 0, null);
    }
    if (in.remaining() < Long.BYTES) {
      throw INVALID.error("truncated append: no time before the batch");
    }
    long dueMillis = in.getLong();
    if (dueMillis == 0 || dueMillis == Long.MIN_VALUE) {
      throw INVALID.error("a delayed batch that is due at " + dueMillis);
    }
    Shard to = new Shard(topicId, -1 - shard);
    if (dueMillis > 0) {
      return new Place(to, dueMillis, null);
    }
    ByteReader rest = new ByteReader(in.slice());
    DelayedOrigin origin = DelayedOrigin.read(rest);
    in.position(in.limit() - rest.remaining());
    return new Place(to, -dueMillis, origin);
  }
}
