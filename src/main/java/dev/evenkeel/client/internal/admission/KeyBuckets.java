package dev.evenkeel.client.internal.admission;

import dev.evenkeel.client.internal.consume.Task;
import dev.evenkeel.dedup.DedupKey;
import dev.evenkeel.util.TokenBucket;
import java.util.ArrayDeque;
import java.util.HashMap;
import java.util.Map;
import java.util.PriorityQueue;

/**
 * The token buckets of keys, up to a limit. A full bucket is as good as a new one, so it makes
 * room.
 */
final class KeyBuckets {
  /** The bucket of a key, and the messages that wait for its tokens. */
  static final class Bucket implements Task.StepData {
    /** The key; null for messages without a key, which have no rate of their own. */
    private final DedupKey key;

    final ArrayDeque<Task> waiting = new ArrayDeque<>(2);

    /** When the bucket is full again, in monotonic nanoseconds. */
    long full = TokenBucket.ALWAYS_FULL;

    /** When its next token is due, while it waits for that. */
    long dueNanos;

    /** Whether it waits for its turn or for its next token. */
    boolean queued;

    Bucket(DedupKey key) {
      this.key = key;
    }

    boolean hasRate() {
      return key != null;
    }
  }

  /** When to check whether a bucket is full. */
  private record Look(Bucket bucket, long atNanos) {}

  /** How many full buckets make room for a new one, so that those of former keys go in time. */
  private static final int DROPPED_EACH = 2;

  /** How soon a bucket whose messages wait for handlers is checked again: 50 ms. */
  private static final long AGAIN_NANOS = 50 * TokenBucket.NANOS_PER_MILLI;

  private final int bucketsMax;
  final Map<DedupKey, Bucket> buckets = new HashMap<>();
  private final PriorityQueue<Look> looks =
      new PriorityQueue<>((a, b) -> Long.compare(a.atNanos, b.atNanos));

  KeyBuckets(int bucketsMax) {
    this.bucketsMax = bucketsMax;
  }

  /** The bucket of a key; null if the limit is reached and none of them is full. */
  Bucket of(DedupKey key, long nowNanos) {
    Bucket bucket = buckets.get(key);
    if (bucket != null) {
      return bucket;
    }
    int dropped = 0;
    Look look;
    while ((look = looks.peek()) != null && look.atNanos <= nowNanos && dropped < DROPPED_EACH) {
      looks.poll();
      Bucket old = look.bucket;
      if (old.full <= nowNanos && !old.queued && old.waiting.isEmpty()) {
        buckets.remove(old.key);
        dropped++;
      } else {
        looks.add(new Look(old, Math.max(old.full, nowNanos + AGAIN_NANOS)));
      }
    }
    if (buckets.size() >= bucketsMax) {
      return null;
    }
    Bucket fresh = new Bucket(key);
    buckets.put(key, fresh);
    looks.add(new Look(fresh, nowNanos));
    return fresh;
  }

  /** When there may be room for another bucket. */
  long roomNanos() {
    Look look = looks.peek();
    return look == null ? Long.MIN_VALUE : look.atNanos;
  }
}
