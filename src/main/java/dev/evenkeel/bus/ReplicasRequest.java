package dev.evenkeel.bus;

import dev.evenkeel.protocol.Limits;
import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.RefusedException;
import dev.evenkeel.protocol.wire.ByteReader;
import dev.evenkeel.protocol.wire.Bytes;
import java.nio.ByteBuffer;

/**
 * Asks whether an entry of a data group is on the disk of every voter.
 *
 * @param dataGroup index of the group
 * @param logIndex index of the entry, as the answer to an append names it; -1: the last committed
 *     entry
 * @param waitMillis longest wait for it, at most {@link Limits#REPLICAS_WAIT_MILLIS_MAX}
 */
public record ReplicasRequest(int dataGroup, long logIndex, int waitMillis) {

  public Bytes encode() {
    return new Bytes(16).i32(dataGroup).i64(logIndex).i32(waitMillis);
  }

  public static ReplicasRequest decode(ByteBuffer body) {
    ByteReader in = new ByteReader(body);
    ReplicasRequest request = new ReplicasRequest(in.i32(), in.i64(), in.i32());
    in.end();
    if (request.logIndex() < -1) {
      throw new RefusedException(Refusal.INVALID, "log index " + request.logIndex());
    }
    return new ReplicasRequest(
        request.dataGroup(),
        request.logIndex(),
        Math.max(0, Math.min(request.waitMillis(), Limits.REPLICAS_WAIT_MILLIS_MAX)));
  }
}
