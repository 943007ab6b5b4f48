package dev.evenkeel.client.internal.level;

import dev.evenkeel.bus.level.HandOut;
import dev.evenkeel.bus.level.MessageId;
import dev.evenkeel.client.Delivery;
import dev.evenkeel.client.ShardContext;
import dev.evenkeel.client.internal.consume.MessageSource;

/**
 * A message that the level dispatcher has handed out to this member, until its handler has ended.
 */
public final class LevelTask implements MessageSource.Handed {
  final HandOut.Entry entry;
  final String topic;

  /** Roughly the memory that it takes. */
  final int bytes;

  /** Its number in the session; another session gives it another one. */
  long number;

  /** It does not begin before, in monotonic milliseconds. */
  long notBeforeMillis;

  /** It was taken back while its handler runs, so its end is not reported. */
  boolean forgotten;

  LevelTask(HandOut.Entry entry, String topic, long number) {
    this.entry = entry;
    this.topic = topic;
    this.number = number;
    bytes = entry.bytes();
  }

  MessageId id() {
    return entry.id();
  }

  boolean is(Delivery delivery) {
    return id().offset() == delivery.offset()
        && id().shard().shard() == delivery.shard()
        && entry.epoch() == delivery.epoch()
        && topic.equals(delivery.topic());
  }

  /** Its shard, under the lease of the level dispatcher. */
  ShardContext context(String member) {
    return new ShardContext(
        topic, id().shard().shard(), entry.epoch(), member, entry.id().offset());
  }

  @Override
  public Delivery delivery(String member) {
    return new Delivery(
        topic,
        id().shard().shard(),
        id().offset(),
        entry.message(),
        member,
        entry.epoch(),
        entry.attempt());
  }

  @Override
  public String toString() {
    return topic + "/" + id().shard().shard() + "@" + entry.epoch();
  }
}
