package dev.evenkeel.client.internal.consume;

import dev.evenkeel.client.ConsumerOptions;
import java.util.Collections;
import java.util.Iterator;
import java.util.Set;
import java.util.function.Consumer;

/**
 * Keeps one shard's order: gives the messages out one by one, as the order allows. A message keeps
 * its turn from {@link #next} to {@link #finished}, through all its retries.
 */
interface OrderQueue {
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
  default void dropFrom(long from) {}

  /** Forgets all that {@link #next} has taken from its source and not given out. */
  default void clear() {
    dropFrom(Long.MIN_VALUE);
  }

  /** Shows what {@link #next} has taken from its source and not given out, in no order. */
  default void forEachWaiting(Consumer<Task> look) {}

  /** Messages that wait behind {@code front}, which was given out and is not finished, in order. */
  default Iterator<Task> behind(Task front) {
    return Collections.emptyIterator();
  }

  /** Forgets some of those behind {@code front}: they have no queue any more. */
  default void takeBehind(Task front, Set<Task> some) {}

  static OrderQueue of(ConsumerOptions.Order order) {
    return of(order, held -> {});
  }

  /**
   * @param crowded is given a {@link Task#watched} message when another comes to wait behind it
   */
  static OrderQueue of(ConsumerOptions.Order order, Consumer<Task> crowded) {
    return switch (order) {
      case SHARD -> new OneByOne();
      case KEY -> new KeyQueues(crowded);
      case NONE -> new Unordered();
    };
  }

  /** One message of the shard after another. It takes no message that it does not give out. */
  final class OneByOne implements OrderQueue {
    private boolean busy;

    private OneByOne() {}

    @Override
    public Task next(Source source) {
      if (busy) {
        return null;
      }
      Task task = source.next();
      busy = task != null;
      return task;
    }

    @Override
    public void finished(Task task) {
      busy = false;
    }
  }

  /** No order at all. It takes no message that it does not give out. */
  final class Unordered implements OrderQueue {
    private Unordered() {}

    @Override
    public Task next(Source source) {
      return source.next();
    }

    @Override
    public void finished(Task task) {
      // Nothing waits for it.
    }
  }
}
