package dev.evenkeel.broker.state;

import dev.evenkeel.protocol.DeadLetter;
import dev.evenkeel.protocol.wire.ByteReader;
import dev.evenkeel.protocol.wire.Bytes;
import dev.evenkeel.protocol.wire.RecordCodec;

/**
 * A dead letter in the store. Its row begins with the message, as that of a retry does.
 *
 * @param letter without a copy
 */
public record StoredLetter(KeptMessage message, DeadLetter letter) {
  public byte[] encode() {
    Bytes out = message.write(new Bytes(128));
    RecordCodec.DEAD_LETTER.write(out, letter);
    return out.toArray();
  }

  public static StoredLetter decode(byte[] row) {
    ByteReader in = new ByteReader(row);
    StoredLetter stored = new StoredLetter(KeptMessage.read(in), RecordCodec.DEAD_LETTER.read(in));
    in.end();
    return stored;
  }
}
