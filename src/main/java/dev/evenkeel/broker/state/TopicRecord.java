package dev.evenkeel.broker.state;

import dev.evenkeel.protocol.TopicConfig;
import dev.evenkeel.protocol.wire.ByteReader;
import dev.evenkeel.protocol.wire.Bytes;
import dev.evenkeel.protocol.wire.RecordCodec;

/**
 * A topic as a data group knows it.
 *
 * @param dropped its shards are gone for good; kept so that a late request to open them, sent
 *     before the topic was deleted, cannot bring them back
 */
public record TopicRecord(int id, String name, TopicConfig config, boolean dropped) {
  byte[] encode() {
    Bytes out = new Bytes(64).i32(id).text(name);
    RecordCodec.write(out, config);
    return out.bool(dropped).toArray();
  }

  static TopicRecord decode(byte[] bytes) {
    ByteReader in = new ByteReader(bytes);
    return new TopicRecord(in.i32(), in.text(), RecordCodec.topicConfig(in), in.bool());
  }
}
