package dev.evenkeel.level;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ArrayBlockingQueue;
import org.jspecify.annotations.Nullable;

/**
 * Another way to keep consumers level: one dispatcher takes from a queue and distributes round
 * robin into a bounded queue for each consumer. When it is the turn of a consumer whose queue is
 * full, it waits for that one.
 *
 * <p>Consumers that are there from the start differ by at most {@code capacity} + 1 elements taken:
 * they got the same number but one, and at most {@code capacity} of those are not yet taken. To one
 * that joins later they may differ by 2·{@code capacity} + 1 since then, because queues may have
 * been full. {@link Coordinator} holds its range in that case too.
 *
 * <p>{@link #distribute}, {@link #consumer} and {@link #leave} are for the one thread of the
 * dispatcher; {@link Consumer#poll} is for one thread of each consumer.
 */
public final class SecondLevelQueues<T> {
  /** Largest capacity of one queue. */
  public static final int CAPACITY_MAX = 1_000_000;

  private final Queue<? extends T> source;
  private final int capacity;
  private final List<Consumer<T>> consumers = new ArrayList<>();
  private final ArrayDeque<T> givenBack = new ArrayDeque<>();
  private int turn;

  /**
   * @param source what is distributed; nobody else takes from it
   * @param capacity elements that wait for each consumer at most, 1 to {@link #CAPACITY_MAX}
   */
  public SecondLevelQueues(Queue<? extends T> source, int capacity) {
    if (capacity < 1 || capacity > CAPACITY_MAX) {
      throw new IllegalArgumentException(
          "a queue of " + capacity + " elements: 1 to " + CAPACITY_MAX + " are allowed");
    }
    this.source = source;
    this.capacity = capacity;
  }

  /** A consumer's end of its queue. */
  public static final class Consumer<T> {
    private final String name;
    private final ArrayBlockingQueue<T> queue;

    private Consumer(String name, int capacity) {
      this.name = name;
      this.queue = new ArrayBlockingQueue<>(capacity);
    }

    /** What it was made with. */
    public String name() {
      return name;
    }

    /** The next element; null if none is there now. */
    public @Nullable T poll() {
      return queue.poll();
    }
  }

  /** Adds a consumer; it gets its first element when the others have had their turn. */
  public Consumer<T> consumer(String name) {
    Consumer<T> consumer = new Consumer<>(name, capacity);
    consumers.add(turn, consumer);
    turn = (turn + 1) % consumers.size();
    return consumer;
  }

  /** Takes a consumer out; what it did not poll goes to the others first. */
  public void leave(Consumer<T> consumer) {
    int at = consumers.indexOf(consumer);
    if (at < 0) {
      return;
    }
    consumers.remove(at);
    if (at < turn) {
      turn--;
    }
    if (turn == consumers.size()) {
      turn = 0;
    }
    consumer.queue.drainTo(givenBack);
  }

  /**
   * Distributes as long as the source has elements and the consumer whose turn it is has room.
   *
   * @param most elements at most
   * @return how many were distributed; call again when a consumer has polled or the source has got
   *     more
   */
  public int distribute(int most) {
    int distributed = 0;
    while (distributed < most && !consumers.isEmpty()) {
      Consumer<T> next = consumers.get(turn);
      if (next.queue.remainingCapacity() == 0) {
        return distributed;
      }
      T element = givenBack.poll();
      if (element == null) {
        element = source.poll();
      }
      if (element == null) {
        return distributed;
      }
      next.queue.add(element);
      turn = (turn + 1) % consumers.size();
      distributed++;
    }
    return distributed;
  }

  /** Whose turn it is while its queue is full: all others wait for it. Null if nobody's. */
  public @Nullable Consumer<T> holder() {
    if (consumers.isEmpty() || consumers.get(turn).queue.remainingCapacity() > 0) {
      return null;
    }
    return consumers.get(turn);
  }
}
