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
import java.nio.ByteBuffer;

/**
 * A batch that waits until it is due. When one of its messages is cancelled, a batch with the
 * others takes its place, and the messages keep the positions that they had when they were sent.
 *
 * @param batch the messages that are left
 * @param place where its bytes are
 * @param cancelled positions of the messages that were cancelled
 */
public record DelayedBatch(BatchHeader batch, BatchPlace place, PositionSet cancelled) {
  /** A batch as it was sent. */
  public DelayedBatch(BatchHeader batch, BatchPlace place) {
    this(batch, place, PositionSet.NONE);
  }

  /** Whether the message with this position waits. */
  public boolean has(int position) {
    return position >= 0 && position < batch.count() + cancelled.size() && !cancelled.has(position);
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
    for (int at = cancelled.nextAbsent(0); reader.hasNext(); at = cancelled.nextAbsent(at + 1)) {
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
    if (!cancelled.isEmpty()) {
      out.blob(cancelled.bytes());
    }
    return out.toArray();
  }

  public static DelayedBatch decode(byte[] value) {
    ByteReader in = new ByteReader(value);
    BatchPlace place = BatchPlace.read(in);
    ByteBuffer header = in.slice(BatchHeader.BYTES);
    byte[] cancelled = in.remaining() == 0 ? new byte[0] : in.blob();
    in.end();
    if (cancelled == null) {
      throw new MalformedException(Refusal.INVALID, "a delayed batch without its cancelled ones");
    }
    return new DelayedBatch(
        BatchHeader.of(header.slice()),
        place,
        cancelled.length == 0 ? PositionSet.NONE : PositionSet.of(cancelled));
  }
}
