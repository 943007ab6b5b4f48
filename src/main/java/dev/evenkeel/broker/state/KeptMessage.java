package dev.evenkeel.broker.state;

import dev.evenkeel.protocol.wire.ByteReader;
import dev.evenkeel.protocol.wire.Bytes;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * The message of a retry or of a dead letter: where it is in the log, or else a copy.
 *
 * @param place of the batch that brought it; null: there is a copy
 * @param base offset of the first message of that batch
 * @param batchBytes length of the batch
 * @param bytes what the message counts for: the length of the copy, or its share of the batch
 * @param copy as {@code wire.MessageCodec} writes it; null: it is in the log
 */
public record KeptMessage(
    @Nullable BatchPlace place, long base, int batchBytes, int bytes, byte @Nullable [] copy) {
  private static final int COPIED = 1;
  private static final int IN_A_BATCH = 2;

  public static KeptMessage in(IndexEntry batch) {
    long count = batch.end() - batch.base();
    int share = (int) ((batch.bytes() + count - 1) / count);
    return new KeptMessage(batch.place(), batch.base(), batch.bytes(), share, null);
  }

  public static KeptMessage copied(byte[] copy) {
    return new KeptMessage(null, 0, 0, copy.length, copy);
  }

  public byte[] encode() {
    return write(new Bytes(40)).toArray();
  }

  Bytes write(Bytes out) {
    return place == null
        ? out.u8(COPIED).blob(copy)
        : place.write(out.u8(IN_A_BATCH)).i64(base).i32(batchBytes).i32(bytes);
  }

  /** Reads the beginning of a row of part MESSAGE or DEAD. */
  public static KeptMessage decode(byte[] row) {
    return read(new ByteReader(row));
  }

  static KeptMessage read(ByteReader in) {
    return in.u8() == COPIED
        ? copied(Objects.requireNonNull(in.blob()))
        : new KeptMessage(BatchPlace.read(in), in.i64(), in.i32(), in.i32(), null);
  }
}
