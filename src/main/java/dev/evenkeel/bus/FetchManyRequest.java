package dev.evenkeel.bus;

import dev.evenkeel.protocol.Limits;
import dev.evenkeel.protocol.MessageFilter;
import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.Shard;
import dev.evenkeel.protocol.wire.ByteReader;
import dev.evenkeel.protocol.wire.Bytes;
import dev.evenkeel.protocol.wire.RecordCodec;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.function.BiFunction;

/**
 * Fetches of several shards that wait together: {@code text group, i32 wait, i32 count, (shard, i64
 * epoch, i64 offset, i32 bytes at most, i32 messages at most, i32 failures known)*}, then the
 * filter of all of them, unless it is null.
 *
 * @param fetches 1 to {@link Limits#FETCHES_A_REQUEST_MAX}, all of one group, or all without one,
 *     and all with the same filter. The shortest wait among them counts
 */
public record FetchManyRequest(List<FetchRequest> fetches) {

  public Bytes encode() {
    int wait = fetches.stream().mapToInt(FetchRequest::waitMillis).min().orElseThrow();
    Bytes out = new Bytes(64 + 40 * fetches.size()).text(fetches.get(0).group());
    out.i32(wait).i32(fetches.size());
    for (FetchRequest each : fetches) {
      RecordCodec.write(out, each.shard());
      out.i64(each.epoch()).i64(each.offset());
      out.i32(each.bytesMax()).i32(each.messagesMax()).i32(each.failuresKnown());
    }
    FetchRequest.write(out, fetches.get(0).filter());
    return out;
  }

  /**
   * @throws dev.evenkeel.protocol.RefusedException INVALID
   */
  public static FetchManyRequest decode(ByteBuffer body) {
    return decode(body, (written, count) -> FetchRequest.filter(written));
  }

  /**
   * The same.
   *
   * @param filters reads a filter as it was written, for so many fetches
   */
  public static FetchManyRequest decode(
      ByteBuffer body, BiFunction<ByteBuffer, Integer, MessageFilter> filters) {
    ByteReader in = new ByteReader(body);
    List<FetchRequest> fetches = read(in);
    MessageFilter filter =
        FetchRequest.readFilter(in, written -> filters.apply(written, fetches.size()));
    if (filter != null) {
      fetches.replaceAll(each -> each.with(filter));
    }
    return new FetchManyRequest(List.copyOf(fetches));
  }

  /**
   * The fetches of a request without their filter, which may be large.
   *
   * @throws dev.evenkeel.protocol.RefusedException INVALID
   */
  public static List<FetchRequest> withoutFilter(ByteBuffer body) {
    return read(new ByteReader(body));
  }

  private static List<FetchRequest> read(ByteReader in) {
    String group = in.text();
    int wait = in.i32();
    int count = in.count();
    if (count < 1 || count > Limits.FETCHES_A_REQUEST_MAX) {
      throw Refusal.INVALID.error(
          "%s shards in one request: 1 to %s are possible", count, Limits.FETCHES_A_REQUEST_MAX);
    }
    List<FetchRequest> fetches = new ArrayList<>(count);
    for (int i = 0; i < count; i++) {
      Shard shard = RecordCodec.shard(in);
      fetches.add(
          new FetchRequest(group, shard, in.i64(), in.i64(), in.i32(), in.i32(), in.i32(), wait)
              .checked());
    }
    return fetches;
  }

  /** See {@link FetchRequest#placed}. */
  public boolean placed() {
    return fetches.get(0).placed();
  }

  /** How long the answer may take if nothing comes. */
  public int waitMillis() {
    return fetches.get(0).waitMillis();
  }
}
