package dev.evenkeel.dispatcher.level.core;

import dev.evenkeel.level.Checkpoint;
import dev.evenkeel.protocol.RefusedException;
import dev.evenkeel.protocol.wire.ByteReader;
import dev.evenkeel.protocol.wire.Bytes;
import dev.evenkeel.protocol.wire.Codec;
import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * What a member keeps for the next level dispatcher, as bytes that only level dispatchers read.
 *
 * <pre>
 * u8 version (1), text name, varlong joined, base, finished, varint inHand, bool heard,
 * i32 count, (varlong joined, low, high) each, i64 term, i64 change,
 * i32 count, varlong each of the younger
 * </pre>
 *
 * <p>Of all checkpoints that members give back, the one with the latest term and change names the
 * members that took part last. A member that is not among them was set aside, or missed, while
 * others went on.
 *
 * @param term of the level dispatcher
 * @param change how often members had joined or left under this level dispatcher
 * @param younger {@link Checkpoint#joined} of the members that joined later than this one
 */
public record MemberCheckpoint(Checkpoint checkpoint, long term, long change, List<Long> younger) {
  private static final Codec<Checkpoint> CHECKPOINT =
      Codec.record(
          Checkpoint.class,
          Codec.TEXT,
          Codec.VARLONG,
          Codec.VARLONG,
          Codec.VARLONG,
          Codec.of(Bytes::varint, ByteReader::varint),
          Codec.BOOL,
          Codec.list(
              Codec.record(
                  Checkpoint.Reference.class, Codec.VARLONG, Codec.VARLONG, Codec.VARLONG)));
  private static final Codec<MemberCheckpoint> CODEC =
      Codec.form(
          "a checkpoint",
          1,
          Codec.record(
              MemberCheckpoint.class, CHECKPOINT, Codec.I64, Codec.I64, Codec.list(Codec.VARLONG)));

  static final Comparator<MemberCheckpoint> BY_TIME =
      Comparator.comparingLong(MemberCheckpoint::term).thenComparingLong(MemberCheckpoint::change);

  /** Numbers of all that took part. */
  Set<Long> members() {
    Set<Long> members = new HashSet<>(younger);
    members.add(checkpoint.joined());
    checkpoint.references().forEach(each -> members.add(each.joined()));
    return members;
  }

  byte[] encode() {
    return CODEC.encode(this);
  }

  /** What {@code bytes} say; null if they are none of ours. */
  static @Nullable MemberCheckpoint decode(byte @Nullable [] bytes) {
    try {
      return bytes == null ? null : CODEC.decodeAll(ByteBuffer.wrap(bytes));
    } catch (RefusedException | BufferUnderflowException e) {
      return null;
    }
  }
}
