package dev.evenkeel.cli;

import dev.evenkeel.client.Delivery;
import java.util.HashMap;
import java.util.Iterator;
import java.util.Map;

/**
 * Lets exactly so many messages through. The first ones to arrive get a place each, and keep it
 * through failures until they succeed, so that of each shard just its first messages are done in
 * the end. Not thread-safe.
 */
final class MaxGate {
  private record Place(String topic, int shard, long offset) {}

  private final long max;
  private final int attemptsMax;
  private final Map<Place, Boolean> running = new HashMap<>();
  private long finished;

  /**
   * @param max how many messages; 0: no limit
   * @param attemptsMax a message that failed so often does not come again
   */
  MaxGate(long max, int attemptsMax) {
    this.max = max;
    this.attemptsMax = attemptsMax;
  }

  /** Whether this message is one of those wanted. If so, exactly one answer follows. */
  boolean admit(Delivery delivery) {
    if (max == 0) {
      return true;
    }
    Place place = new Place(delivery.topic(), delivery.shard(), delivery.offset());
    if (!running.containsKey(place) && finished + running.size() >= max) {
      return false;
    }
    running.put(place, true);
    return true;
  }

  /** An admitted message is done. */
  void succeeded(Delivery delivery) {
    finished++;
    running.remove(new Place(delivery.topic(), delivery.shard(), delivery.offset()));
  }

  /** An admitted message failed. Its place is kept if it comes again, else another gets it. */
  void failed(Delivery delivery) {
    if (max > 0 && delivery.attempt() >= attemptsMax) {
      running.remove(new Place(delivery.topic(), delivery.shard(), delivery.offset()));
    } else if (max > 0) {
      running.replace(new Place(delivery.topic(), delivery.shard(), delivery.offset()), false);
    }
  }

  /** A message was finished without being admitted, perhaps one that failed: its place is free. */
  void passed(Delivery delivery) {
    running.remove(new Place(delivery.topic(), delivery.shard(), delivery.offset()));
  }

  /** The shard goes to another owner: places of messages that failed here are free again. */
  void shardGone(String topic, int shard) {
    Iterator<Map.Entry<Place, Boolean>> places = running.entrySet().iterator();
    while (places.hasNext()) {
      Map.Entry<Place, Boolean> place = places.next();
      boolean here = place.getKey().topic().equals(topic) && place.getKey().shard() == shard;
      if (here && !place.getValue()) {
        places.remove();
      }
    }
  }

  /** Whether a message that was admitted waits to be tried again. */
  boolean retryPending() {
    return running.containsValue(false);
  }

  boolean complete() {
    return max > 0 && finished >= max;
  }
}
