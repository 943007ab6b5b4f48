package dev.evenkeel.broker.state;

import dev.evenkeel.protocol.MalformedException;
import dev.evenkeel.protocol.Message;
import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.wire.Batch;
import dev.evenkeel.protocol.wire.BatchBuilder;
import dev.evenkeel.protocol.wire.BatchHeader;
import dev.evenkeel.protocol.wire.BatchPacker;
import dev.evenkeel.protocol.wire.BatchReader;
import dev.evenkeel.protocol.wire.ByteReader;
import dev.evenkeel.protocol.wire.Bytes;
import dev.evenkeel.protocol.wire.DelayedOrigin;
import java.nio.ByteBuffer;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A batch that waits until it is due. When one of its messages is cancelled, a batch with the
 * others takes its place. After a reshard, the messages of one batch wait in several. The messages
 * keep the positions that they had when they were sent.
 *
 * @param batch the messages that are left
 * @param place where its bytes are
 * @param absent positions of the messages that were cancelled or went to other shards
 * @param formerPlaces where the batch waited in sealed shards
 */
public record DelayedBatch(
    BatchHeader batch,
    BatchPlace place,
    PositionSet absent,
    List<DelayedOrigin.Place> formerPlaces) {
  /** A batch as it was sent, or moved. */
  public DelayedBatch(BatchHeader batch, BatchPlace place, @Nullable DelayedOrigin origin) {
    this(
        batch,
        place,
        origin == null ? PositionSet.NONE : PositionSet.of(origin.absent()),
        origin == null ? List.of() : List.copyOf(origin.places()));
  }

  /** Whether the message with this position waits. */
  public boolean has(int position) {
    return position >= 0 && position < batch.count() + absent.size() && !absent.has(position);
  }

  /** What is left once the message with this position is cancelled. */
  public DelayedBatch cancelled(int position, BatchHeader rest, BatchPlace restPlace) {
    return new DelayedBatch(rest, restPlace, absent.with(position), formerPlaces);
  }

  /**
   * A batch with the other messages, compressed as this one is.
   *
   * @param position of the message that is left out, which waits; another one waits, too
   * @param bytes of this batch
   */
  public Batch without(int position, Batch bytes) {
    BatchBuilder rest =
        new BatchBuilder(bytes.unpackedLength(), BatchPacker.of(bytes.compression()));
    BatchReader reader = bytes.reader(0);
    for (int at = absent.nextAbsent(0); reader.hasNext(); at = absent.nextAbsent(at + 1)) {
      Message message = reader.next();
      if (at != position) {
        rest.add(message);
      }
    }
    return rest.build(bytes.producerId(), bytes.producerEpoch(), bytes.firstSequence());
  }

  byte[] encode() {
    byte[] header = new byte[BatchHeader.BYTES];
    batch.bytes().get(0, header);
    Bytes out = place.write(new Bytes(16 + BatchHeader.BYTES)).raw(header);
    if (!absent.isEmpty() || !formerPlaces.isEmpty()) {
      out.blob(absent.bytes());
    }
    if (!formerPlaces.isEmpty()) {
      DelayedOrigin.writePlaces(out, formerPlaces);
    }
    return out.toArray();
  }

  public static DelayedBatch decode(byte[] value) {
    ByteReader in = new ByteReader(value);
    BatchPlace place = BatchPlace.read(in);
    ByteBuffer header = in.slice(BatchHeader.BYTES);
    byte[] absent = in.remaining() == 0 ? new byte[0] : in.blob();
    List<DelayedOrigin.Place> formerPlaces =
        in.remaining() == 0 ? List.of() : DelayedOrigin.readPlaces(in);
    in.end();
    if (absent == null) {
      throw new MalformedException(Refusal.INVALID, "a delayed batch without its positions");
    }
    return new DelayedBatch(
        BatchHeader.of(header.slice()),
        place,
        absent.length == 0 ? PositionSet.NONE : PositionSet.of(absent),
        formerPlaces);
  }
}
