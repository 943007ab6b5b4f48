package dev.evenkeel.broker.state;

import dev.evenkeel.protocol.wire.BatchHeader;
import dev.evenkeel.protocol.wire.ByteReader;
import dev.evenkeel.protocol.wire.Bytes;
import java.nio.ByteBuffer;

/**
 * A batch that waits until it is due.
 *
 * @param place where its bytes are
 */
public record DelayedBatch(BatchHeader batch, BatchPlace place) {
  byte[] encode() {
    byte[] header = new byte[BatchHeader.BYTES];
    batch.bytes().get(0, header);
    return place.write(new Bytes(16 + BatchHeader.BYTES)).raw(header).toArray();
  }

  public static DelayedBatch decode(byte[] value) {
    ByteReader in = new ByteReader(value);
    BatchPlace place = BatchPlace.read(in);
    ByteBuffer header = in.slice(BatchHeader.BYTES);
    in.end();
    return new DelayedBatch(BatchHeader.of(header.slice()), place);
  }
}
