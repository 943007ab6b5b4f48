package dev.evenkeel.cli;

import dev.evenkeel.client.Delivery;
import java.util.HashMap;
import java.util.Iterator;
import java.util.Map;

/**
 * Admits a fixed number of messages. Each of the first ones to arrive gets a place and keeps it
 * through retries until it succeeds, so the finished messages of a shard are its first ones. Not
 * thread-safe.
 */
final class MaxGate {
  private record Place(String topic, int shard, long offset) {}

  private final long max;
  private final int attemptsMax;
  private final Map<Place, Boolean> running = new HashMap<>();
  private long finished;

  /**
   * @param max how many messages; 0: no limit
   * @param attemptsMax how often a message is tried
   */
  MaxGate(long max, int attemptsMax) {
    this.max = max;
    this.attemptsMax = attemptsMax;
  }

  /** Whether the message is admitted. If so, the caller reports success or failure once. */
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

  /** An admitted message succeeded. */
  void succeeded(Delivery delivery) {
    finished++;
    running.remove(new Place(delivery.topic(), delivery.shard(), delivery.offset()));
  }

  /** An admitted message failed. It keeps its place if it will be retried. */
  void failed(Delivery delivery) {
    if (max > 0 && delivery.attempt() >= attemptsMax) {
      running.remove(new Place(delivery.topic(), delivery.shard(), delivery.offset()));
    } else if (max > 0) {
      running.replace(new Place(delivery.topic(), delivery.shard(), delivery.offset()), false);
    }
  }

  /** A message was finished without a handler. If it had a place, that is free. */
  void passed(Delivery delivery) {
    running.remove(new Place(delivery.topic(), delivery.shard(), delivery.offset()));
  }

  /** The shard goes to another owner: frees the places of messages that failed here. */
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

  /** Whether an admitted message waits for a retry. */
  boolean retryPending() {
    return running.containsValue(false);
  }

  boolean complete() {
    return max > 0 && finished >= max;
  }
}
