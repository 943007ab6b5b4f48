package dev.evenkeel.client.internal.member;

import dev.evenkeel.client.ConsumerStream;
import dev.evenkeel.client.Delivery;
import dev.evenkeel.client.ShardContext;
import io.vertx.core.Promise;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * The messages that a {@link ConsumerStream} has got and not finished: those nobody has asked for
 * yet, and those given out to be finished by hand. Guarded by the stream's lock; promises are
 * completed outside of it.
 */
final class StreamBuffer {
  private record Place(String topic, int shard, long epoch, long offset) {
    static Place of(Delivery delivery) {
      return new Place(delivery.topic(), delivery.shard(), delivery.epoch(), delivery.offset());
    }

    boolean in(ShardContext context) {
      return epoch == context.epoch() && shard == context.shard() && topic.equals(context.topic());
    }
  }

  /** A shard under one lease. */
  private record Owned(String topic, int shard, long epoch) {
    static Owned of(ShardContext shard) {
      return new Owned(shard.topic(), shard.shard(), shard.epoch());
    }
  }

  record Waiting(Delivery delivery, Promise<Void> end) {}

  /** Handed out by the consumer, not yet asked for. At most {@code parallel}. */
  private final ArrayDeque<Waiting> queue = new ArrayDeque<>();

  /** Given to the handler, not yet finished by hand. At most {@code parallel}. */
  private final Map<Place, Promise<Void>> unfinished = new HashMap<>();

  /** Shards that are being let go. */
  private final Set<Owned> going = new HashSet<>();

  void going(ShardContext shard) {
    going.add(Owned.of(shard));
  }

  /** It is gone, or it stays. */
  void goesNoMore(ShardContext shard) {
    going.remove(Owned.of(shard));
  }

  /** Whether the message's shard is being let go. */
  boolean goes(Delivery delivery) {
    return going.contains(new Owned(delivery.topic(), delivery.shard(), delivery.epoch()));
  }

  boolean anyWaiting() {
    return !queue.isEmpty();
  }

  void await(Delivery delivery, Promise<Void> end) {
    queue.add(new Waiting(delivery, end));
  }

  /** The next one that waits, or null. */
  Waiting next() {
    return queue.poll();
  }

  /** A message is given out, to be finished by hand. */
  void givenOut(Delivery delivery, Promise<Void> end) {
    unfinished.put(Place.of(delivery), end);
  }

  /** A message given out is over. Returns what awaits its end, or null if nothing does any more. */
  Promise<Void> settled(Delivery delivery) {
    return unfinished.remove(Place.of(delivery));
  }

  /** Takes out the messages of a shard, and returns what awaits their ends. */
  List<Promise<Void>> giveUp(ShardContext shard, boolean alsoGivenOut) {
    List<Promise<Void>> ends = new ArrayList<>();
    queue.removeIf(waiting -> Place.of(waiting.delivery()).in(shard) && ends.add(waiting.end()));
    if (alsoGivenOut) {
      unfinished
          .entrySet()
          .removeIf(given -> given.getKey().in(shard) && ends.add(given.getValue()));
    }
    return ends;
  }

  void clear() {
    queue.clear();
    unfinished.clear();
  }
}
