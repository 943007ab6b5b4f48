package dev.evenkeel.bus;

import dev.evenkeel.protocol.Limits;
import dev.evenkeel.protocol.MessageFilter;
import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.RefusedException;
import dev.evenkeel.protocol.Shard;
import dev.evenkeel.protocol.wire.ByteReader;
import dev.evenkeel.protocol.wire.Bytes;
import dev.evenkeel.protocol.wire.RecordCodec;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;

/**
 * Asks for batches of a shard from an offset on.
 *
 * @param group the group whose lease is checked; empty to browse
 * @param epoch the lease's epoch; -1 to browse
 * @param offset the first message wanted; the answer holds the whole batch with it. {@link
 *     #AS_GRANTED}: the fetch comes ahead of the grant of the lease at this epoch
 * @param bytesMax the answer holds more than one batch only within this size
 * @param messagesMax like bytesMax; the headers of batches say how many messages they hold
 * @param failuresKnown {@link FetchAnswer#failures} of the last answer, at first 0. If it is
 *     another number by now, the answer does not wait; {@link #FAILURES_UNKNOWN}: it waits in any
 *     case
 * @param waitMillis longest wait if there is no message yet, at most {@link
 *     Limits#FETCH_WAIT_MILLIS_MAX}
 * @param filter the messages wanted; others may come, too. Null: all of them, in an answer without
 *     their places in the log, as nodes up to feature level 8 give it
 */
public record FetchRequest(
    String group,
    Shard shard,
    long epoch,
    long offset,
    int bytesMax,
    int messagesMax,
    int failuresKnown,
    int waitMillis,
    MessageFilter filter) {

  /** A request of the form of feature level 8. */
  public FetchRequest(
      String group,
      Shard shard,
      long epoch,
      long offset,
      int bytesMax,
      int messagesMax,
      int failuresKnown,
      int waitMillis) {
    this(group, shard, epoch, offset, bytesMax, messagesMax, failuresKnown, waitMillis, null);
  }

  /**
   * In place of the offset: the sender gets the lease when its owner releases it, and begins at the
   * offset that is committed then. The fetch waits for that.
   */
  public static final long AS_GRANTED = -1;

  /** In requests of the former form: these clients ask for retries from time to time. */
  public static final int FAILURES_UNKNOWN = -1;

  /** A request to read a shard without owning it; no lease is checked. */
  public static FetchRequest browse(
      Shard shard, long offset, int bytesMax, int messagesMax, int waitMillis) {
    return new FetchRequest("", shard, -1, offset, bytesMax, messagesMax, 0, waitMillis);
  }

  /** Whether it comes ahead of the grant of the lease. */
  public boolean isAhead() {
    return offset == AS_GRANTED;
  }

  /** The same request without a lease. */
  public FetchRequest browse() {
    int sealedKnown = failuresKnown & (FetchAnswer.SEALED | FetchAnswer.NONE_WAITS);
    return new FetchRequest(
        "", shard, -1, offset, bytesMax, messagesMax, sealedKnown, waitMillis, filter);
  }

  /** The same request for other messages, or in another form. */
  public FetchRequest with(MessageFilter other) {
    return new FetchRequest(
        group, shard, epoch, offset, bytesMax, messagesMax, failuresKnown, waitMillis, other);
  }

  /** The same request from another offset on. */
  public FetchRequest from(long other) {
    return new FetchRequest(
        group, shard, epoch, other, bytesMax, messagesMax, failuresKnown, waitMillis, filter);
  }

  /** The same request with lower bounds. */
  public FetchRequest within(int bytes, int messages) {
    return new FetchRequest(
        group, shard, epoch, offset, bytes, messages, failuresKnown, waitMillis, filter);
  }

  /** Whether the answer says where its batches are in the log, and may leave out messages. */
  public boolean placed() {
    return filter != null;
  }

  /** Whether some messages are not wanted. */
  public boolean filters() {
    return filter != null && !filter.isAll();
  }

  public Bytes encode() {
    Bytes out = encodeFormer().i32(messagesMax).i32(failuresKnown);
    write(out, filter);
    return out;
  }

  /** Writes a filter at the end of a request; nothing for null. */
  static void write(Bytes out, MessageFilter filter) {
    if (filter != null) {
      out.i32(filter.texts().size());
      filter.texts().forEach(out::text);
    }
  }

  /** Reads a filter at the end of a request; null if there is none. */
  static MessageFilter readFilter(ByteReader in, Function<ByteBuffer, MessageFilter> filters) {
    return in.remaining() == 0 ? null : filters.apply(in.rest());
  }

  /**
   * The filter that stands at the end of a request.
   *
   * @throws RefusedException INVALID
   */
  public static MessageFilter filter(ByteBuffer written) {
    ByteReader in = new ByteReader(written);
    int count = in.count();
    List<String> texts = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      texts.add(in.text());
    }
    in.end();
    return MessageFilter.of(texts);
  }

  /**
   * How many conditions the filter has that stands at the end of a request.
   *
   * @throws RefusedException INVALID
   */
  public static int conditions(ByteBuffer written) {
    return new ByteReader(written).count();
  }

  /**
   * The form that clients of the first version send. Nodes of that version refuse the one of {@link
   * #encode} as INVALID, so a client asks them again in this form.
   */
  public Bytes encodeFormer() {
    Bytes out = new Bytes(64).text(group);
    RecordCodec.write(out, shard);
    return out.i64(epoch).i64(offset).i32(bytesMax).i32(waitMillis);
  }

  public static FetchRequest decode(ByteBuffer body) {
    return decode(body, FetchRequest::filter);
  }

  /**
   * The same.
   *
   * @param filters reads a filter as it was written, such as {@link #filter}
   */
  public static FetchRequest decode(ByteBuffer body, Function<ByteBuffer, MessageFilter> filters) {
    ByteReader in = new ByteReader(body);
    String group = in.text();
    Shard shard = RecordCodec.shard(in);
    long epoch = in.i64();
    long offset = in.i64();
    int bytesMax = in.i32();
    int waitMillis = in.i32();
    boolean former = in.remaining() == 0;
    int messagesMax = former ? Integer.MAX_VALUE : in.i32();
    int failuresKnown = former ? FAILURES_UNKNOWN : in.i32();
    MessageFilter filter = readFilter(in, filters);
    return new FetchRequest(
            group, shard, epoch, offset, bytesMax, messagesMax, failuresKnown, waitMillis, filter)
        .checked();
  }

  /**
   * The same request within the limits.
   *
   * @throws RefusedException INVALID if it makes no sense
   */
  FetchRequest checked() {
    if (group == null || offset < (group.isEmpty() ? 0 : AS_GRANTED)) {
      throw new RefusedException(Refusal.INVALID, "a fetch needs a group and an offset from 0");
    }
    if (isAhead() && filters()) {
      throw new RefusedException(Refusal.INVALID, "a fetch ahead of its lease has no filter");
    }
    return new FetchRequest(
        group,
        shard,
        epoch,
        offset,
        Math.max(1, Math.min(bytesMax, Limits.FETCH_BYTES_MAX)),
        Math.max(1, messagesMax),
        failuresKnown,
        Math.max(0, Math.min(waitMillis, Limits.FETCH_WAIT_MILLIS_MAX)),
        filter);
  }
}
