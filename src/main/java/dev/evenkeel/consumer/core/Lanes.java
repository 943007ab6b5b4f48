package dev.evenkeel.consumer.core;

import dev.evenkeel.consumer.ConsumerOptions;
import java.util.function.Consumer;

/**
 * Keeps one shard's order: gives the messages out one by one, as the order allows. A message keeps
 * its lane from {@link #next} to {@link #finished}, through all its retries.
 */
interface Lanes {
  /** Gives the shard's messages by ascending offset, decoded one at a time. */
  interface Source {
    /** The next message, or null if there is none now. */
    Task next();
  }

  /** The next message that may start, or null while all that came must wait. */
  Task next(Source source);

  /** The handler of {@code task} has ended well, so what waited behind it may start. */
  void finished(Task task);

  /**
   * Forgets what {@link #next} has taken from its source and not given out, as far as it lies at
   * {@code from} or above.
   */
  void dropFrom(long from);

  /** Forgets all that {@link #next} has taken from its source and not given out. */
  default void clear() {
    dropFrom(Long.MIN_VALUE);
  }

  /** Shows what {@link #next} has taken from its source and not given out, in no order. */
  void forEachParked(Consumer<Task> look);

  static Lanes of(ConsumerOptions.Order order) {
    return switch (order) {
      case SHARD -> new ShardLane();
      case KEY -> new KeyLanes();
      case NONE -> new FreeLanes();
    };
  }
}
