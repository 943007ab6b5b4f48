package dev.evenkeel.producer;

import dev.evenkeel.model.Message;
import dev.evenkeel.producer.core.SendBuffer;
import io.vertx.core.Promise;
import java.util.ArrayDeque;
import java.util.Deque;

/** Messages that wait for room in a spool, in their order and bounded. Guarded by its producer. */
final class SpoolRoom {
  /**
   * @param spooled told when it is in the spool
   * @param acknowledged told when it is in the log; null: nobody wants to know
   */
  record Waiter(Message message, Promise<Void> spooled, Promise<Producer.Position> acknowledged) {}

  private final Deque<Waiter> waiters = new ArrayDeque<>();
  private int promisesMax = SendBuffer.DEFAULT_MESSAGES_MAX;
  private int promises;
  private boolean drainWanted;

  /** So many may wait for their acknowledgement. */
  void promisesMax(int max) {
    promisesMax = max;
  }

  /** Whether one more may wait for its acknowledgement. */
  boolean isFull(int times) {
    return promises >= (long) times * promisesMax;
  }

  void promised() {
    promises++;
  }

  void kept() {
    promises--;
  }

  /** False if too many wait already. */
  boolean await(Waiter waiter) {
    return waiters.size() < SendBuffer.WAITING_SENDS_MAX && waiters.add(waiter);
  }

  boolean hasWaiters() {
    return !waiters.isEmpty();
  }

  Waiter first() {
    return waiters.peekFirst();
  }

  Waiter take() {
    return waiters.pollFirst();
  }

  int waiting() {
    return waiters.size();
  }

  void wantDrain() {
    drainWanted = true;
  }

  /** Whether it is half empty again, said once after each time it was full. */
  boolean drained() {
    boolean drained = drainWanted && waiters.isEmpty() && promises <= promisesMax / 2;
    if (drained) {
      drainWanted = false;
    }
    return drained;
  }
}
