package dev.evenkeel.dedup;

import java.util.Arrays;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.SynchronousQueue;

/**
 * How long it takes, from the moment that a head gives its place back, until the thread that waits
 * for it runs. Prints median, p99 and maximum in microseconds.
 */
public final class WakeUp {
  private static final int WARM_UP = 1_000;
  private static final int ROUNDS = 5_000;

  private WakeUp() {}

  public static void main(String[] args) throws InterruptedException {
    LocalCoordinator<Integer> coordinator = new LocalCoordinator<>(1_000, 60_000);
    Worker worker = new Worker("m", 0, 0);
    SynchronousQueue<Ticket<Integer>> blocked = new SynchronousQueue<>();
    SynchronousQueue<Long> woken = new SynchronousQueue<>();
    Thread waiter =
        new Thread(
            () -> {
              try {
                while (true) {
                  Ticket<Integer> ticket = coordinator.enQueue(1, worker, 1);
                  blocked.put(ticket);
                  ((CompletableFuture<Answer>) ticket.turn()).join();
                  woken.put(System.nanoTime());
                  coordinator.deQueue(ticket, 1);
                }
              } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
              }
            });
    waiter.setDaemon(true);
    long[] nanos = new long[ROUNDS];
    Ticket<Integer> head = coordinator.enQueue(1, worker, 1);
    waiter.start();
    for (int i = -WARM_UP; i < ROUNDS; i++) {
      blocked.take();
      // So that it really sleeps.
      Thread.sleep(0, 100_000);
      long begin = System.nanoTime();
      coordinator.deQueue(head, 1);
      // It waits behind the waiter now, so that they take turns.
      head = coordinator.enQueue(1, worker, 1);
      long took = woken.take() - begin;
      if (i >= 0) {
        nanos[i] = took;
      }
      ((CompletableFuture<Answer>) head.turn()).join();
    }
    Arrays.sort(nanos);
    System.out.printf(
        "wake-up µs: median %d, p99 %d, max %d%n",
        nanos[ROUNDS / 2] / 1_000, nanos[ROUNDS * 99 / 100] / 1_000, nanos[ROUNDS - 1] / 1_000);
    System.exit(0);
  }
}
