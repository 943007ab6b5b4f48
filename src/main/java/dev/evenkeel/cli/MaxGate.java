package dev.evenkeel.cli;

import dev.evenkeel.client.Delivery;
import java.util.HashMap;
import java.util.Map;

/**
 * Admits a fixed number of messages. Each of the first ones to arrive gets a place and keeps it
 * through retries until it succeeds, so the finished messages of a shard are its first ones. Not
 * thread-safe.
 */
final class MaxGate {
  private record Place(String topic, int shard, long offset) {
    static Place of(Delivery delivery) {
      return new Place(delivery.topic(), delivery.shard(), delivery.offset());
    }
  }

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
    Place place = Place.of(delivery);
    if (!running.containsKey(place) && finished + running.size() >= max) {
      return false;
    }
    running.put(place, true);
    return true;
  }

  /** An admitted message succeeded. */
  void succeeded(Delivery delivery) {
    finished++;
    running.remove(Place.of(delivery));
  }

  /** An admitted message failed. It keeps its place if it will be retried. */
  void failed(Delivery delivery) {
    if (max > 0 && delivery.attempt() >= attemptsMax) {
      running.remove(Place.of(delivery));
    } else if (max > 0) {
      running.replace(Place.of(delivery), false);
    }
  }

  /** A message was finished without a handler. If it had a place, that is free. */
  void passed(Delivery delivery) {
    running.remove(Place.of(delivery));
  }

  /** The shard goes to another owner: frees the places of messages that failed here. */
  void shardGone(String topic, int shard) {
    running
        .entrySet()
        .removeIf(
            each ->
                !each.getValue()
                    && each.getKey().topic().equals(topic)
                    && each.getKey().shard() == shard);
  }

  /** Whether an admitted message waits for a retry. */
  boolean retryPending() {
    return running.containsValue(false);
  }

  boolean complete() {
    return max > 0 && finished >= max;
  }
}
