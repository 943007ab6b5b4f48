package dev.evenkeel.client.internal.level;

import dev.evenkeel.bus.level.HandOut;
import dev.evenkeel.bus.level.MessageId;
import dev.evenkeel.client.Delivery;
import dev.evenkeel.client.ShardContext;
import dev.evenkeel.client.internal.consume.MessageSource;

/** A message that was dealt to this member, until its handler has ended. */
public final class LevelTask implements MessageSource.Handed {
  final HandOut.Entry dealt;
  final String topic;

  /** About what it takes in memory. */
  final int bytes;

  /** Of the session; another one in each. */
  long number;

  /** It was taken back while its handler runs: its end is no news to anybody. */
  boolean forgotten;

  LevelTask(HandOut.Entry dealt, String topic, long number) {
    this.dealt = dealt;
    this.topic = topic;
    this.number = number;
    bytes = dealt.bytes();
  }

  MessageId id() {
    return dealt.id();
  }

  /** Its shard, under the lease that the dealer holds. */
  ShardContext context(String member) {
    return new ShardContext(
        topic, id().shard().shard(), dealt.epoch(), member, dealt.id().offset());
  }

  @Override
  public Delivery delivery(String member) {
    return new Delivery(
        topic,
        id().shard().shard(),
        id().offset(),
        dealt.message(),
        member,
        dealt.epoch(),
        dealt.attempt());
  }

  @Override
  public String toString() {
    return topic + "/" + id().shard().shard() + "@" + dealt.epoch();
  }
}
