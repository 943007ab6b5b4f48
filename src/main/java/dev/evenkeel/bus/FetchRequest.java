package dev.evenkeel.bus;

import dev.evenkeel.model.Limits;
import dev.evenkeel.model.Refusal;
import dev.evenkeel.model.RefusedException;
import dev.evenkeel.model.Shard;
import dev.evenkeel.wire.ByteReader;
import dev.evenkeel.wire.Bytes;
import dev.evenkeel.wire.RecordCodec;
import java.nio.ByteBuffer;

/**
 * Asks for batches of a shard from an offset on.
 *
 * @param group the group whose lease is checked; empty to browse
 * @param epoch the lease's epoch; -1 to browse
 * @param offset the first message wanted; the batch that holds it is sent whole
 * @param bytesMax at least one batch is sent, more only within this
 * @param messagesMax as bytesMax: batches are counted by their headers
 * @param failuresTold what the last answer said of failures, at first 0: an answer that would say
 *     something else does not wait
 * @param waitMillis how long to wait if there is nothing yet, at most {@link
 *     Limits#FETCH_WAIT_MILLIS_MAX}
 */
public record FetchRequest(
    String group,
    Shard shard,
    long epoch,
    long offset,
    int bytesMax,
    int messagesMax,
    int failuresTold,
    int waitMillis) {

  /** Reads a shard without owning it: whatever groups have in the logs does not matter. */
  public static FetchRequest browse(
      Shard shard, long offset, int bytesMax, int messagesMax, int waitMillis) {
    return new FetchRequest("", shard, -1, offset, bytesMax, messagesMax, 0, waitMillis);
  }

  /** The same, without owning the shard. */
  public FetchRequest browse() {
    return browse(shard, offset, bytesMax, messagesMax, waitMillis);
  }

  public Bytes encode() {
    Bytes out = new Bytes(64).text(group);
    RecordCodec.write(out, shard);
    out.i64(epoch).i64(offset).i32(bytesMax).i32(messagesMax);
    return out.i32(failuresTold).i32(waitMillis);
  }

  public static FetchRequest decode(ByteBuffer body) {
    ByteReader in = new ByteReader(body);
    FetchRequest request =
        new FetchRequest(
            in.text(),
            RecordCodec.shard(in),
            in.i64(),
            in.i64(),
            in.i32(),
            in.i32(),
            in.i32(),
            in.i32());
    in.end();
    if (request.group() == null || request.offset() < 0) {
      throw new RefusedException(Refusal.INVALID, "a fetch needs a group and an offset from 0");
    }
    return new FetchRequest(
        request.group(),
        request.shard(),
        request.epoch(),
        request.offset(),
        Math.max(1, Math.min(request.bytesMax(), Limits.FETCH_BYTES_MAX)),
        Math.max(1, request.messagesMax()),
        request.failuresTold(),
        Math.max(0, Math.min(request.waitMillis(), Limits.FETCH_WAIT_MILLIS_MAX)));
  }
}
