package dev.evenkeel.broker.state;

import dev.evenkeel.protocol.wire.ByteReader;
import dev.evenkeel.protocol.wire.Bytes;

/** A producer that comes back under its name: the same id, an epoch one higher each time. */
public record NamedProducer(String name, long id, int epoch) {
  byte[] encode() {
    return new Bytes().text(name).i64(id).i32(epoch).toArray();
  }

  static NamedProducer decode(byte[] bytes) {
    ByteReader in = new ByteReader(bytes);
    return new NamedProducer(in.text(), in.i64(), in.i32());
  }
}
