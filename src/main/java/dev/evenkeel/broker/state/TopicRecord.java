package dev.evenkeel.broker.state;

import dev.evenkeel.protocol.TopicConfig;
import dev.evenkeel.protocol.wire.Codec;
import dev.evenkeel.protocol.wire.RecordCodec;

/**
 * A topic as a data log group knows it.
 *
 * @param dropped its shards are deleted for good; the record stays so that a late request to open
 *     them, sent before the topic was deleted, cannot bring them back
 */
public record TopicRecord(int id, String name, TopicConfig config, boolean dropped) {
  static final Codec<TopicRecord> CODEC =
      Codec.record(TopicRecord.class, Codec.I32, Codec.TEXT, RecordCodec.TOPIC_CONFIG, Codec.BOOL);
}
