package dev.evenkeel.bus;

import dev.evenkeel.protocol.Limits;
import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.RefusedException;
import dev.evenkeel.protocol.Shard;
import dev.evenkeel.protocol.wire.ByteReader;
import dev.evenkeel.protocol.wire.Bytes;
import dev.evenkeel.protocol.wire.RecordCodec;
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
 *     something else does not wait; {@link #UNTOLD}: it waits
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

  /** Of a request in the former form: its sender looks at retries in its own time. */
  public static final int UNTOLD = -1;

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
    return encodeFormer().i32(messagesMax).i32(failuresTold);
  }

  /** Without what nodes of a former version do not know: they refuse {@link #encode} as INVALID. */
  public Bytes encodeFormer() {
    Bytes out = new Bytes(64).text(group);
    RecordCodec.write(out, shard);
    return out.i64(epoch).i64(offset).i32(bytesMax).i32(waitMillis);
  }

  public static FetchRequest decode(ByteBuffer body) {
    ByteReader in = new ByteReader(body);
    String group = in.text();
    Shard shard = RecordCodec.shard(in);
    long epoch = in.i64();
    long offset = in.i64();
    int bytesMax = in.i32();
    int waitMillis = in.i32();
    boolean former = in.remaining() == 0;
    int messagesMax = former ? Integer.MAX_VALUE : in.i32();
    int failuresTold = former ? UNTOLD : in.i32();
    in.end();
    if (group == null || offset < 0) {
      throw new RefusedException(Refusal.INVALID, "a fetch needs a group and an offset from 0");
    }
    return new FetchRequest(
        group,
        shard,
        epoch,
        offset,
        Math.max(1, Math.min(bytesMax, Limits.FETCH_BYTES_MAX)),
        Math.max(1, messagesMax),
        failuresTold,
        Math.max(0, Math.min(waitMillis, Limits.FETCH_WAIT_MILLIS_MAX)));
  }
}
