package dev.evenkeel.client.internal.spool;

import dev.evenkeel.client.Producer;
import dev.evenkeel.client.SpoolingProducer;
import dev.evenkeel.client.internal.produce.core.SendBuffer;
import dev.evenkeel.protocol.Message;
import dev.evenkeel.protocol.RefusedException;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;

/** Messages that wait for room in a spool, in their order and bounded. Guarded by its producer. */
final class SpoolRoom {
  /**
   * @param dueMillis of {@code DueTime}
   * @param spooled told when it is in the spool
   * @param acknowledged told when it is in the log; null: nobody wants to know
   */
  record Waiter(
      Message message,
      long dueMillis,
      Promise<Void> spooled,
      Promise<Producer.Position> acknowledged) {

    void refuse(RefusedException why) {
      spooled.tryFail(why);
      if (acknowledged != null) {
        acknowledged.tryFail(why);
      }
    }

    SpoolingProducer.Receipt receipt() {
      return new SpoolingProducer.Receipt(
          spooled.future(),
          acknowledged == null ? Future.succeededFuture() : acknowledged.future());
    }
  }

  private final Deque<Waiter> waiters = new ArrayDeque<>();
  private int promisesMax = SendBuffer.DEFAULT_MESSAGES_MAX;
  private int promises;
  private boolean drainWanted;

  /** So many may wait for their acknowledgement. */
  void promisesMax(int max) {
    if (max < 1) {
      throw new IllegalArgumentException("a write queue of " + max + ": use 1 or more");
    }
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

  /** All of them, which then wait no more. */
  List<Waiter> takeAll() {
    List<Waiter> all = List.copyOf(waiters);
    waiters.clear();
    return all;
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
