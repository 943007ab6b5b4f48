package dev.evenkeel.log.raft;

import static dev.evenkeel.protocol.Refusal.OVERLOADED;

import dev.evenkeel.log.Replicas;
import dev.evenkeel.protocol.RefusedException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.PriorityQueue;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;

/**
 * Requests that wait until an entry of one log group is on the disks of all voters. However many
 * wait, it asks the engine for one entry at a time, the lowest: when that is everywhere, others may
 * be too. Their number and the time of each are limited. May be used from any thread.
 */
final class ReplicaWatch {
  static final int WAITERS_MAX = 4_096;

  /** After the engine gave up on an entry, it is asked again after this. */
  static final long PAUSE_MILLIS = 100;

  /** What the engine knows. Never blocks. */
  interface Engine {
    /**
     * Completes when every voter has the entry on its disk; fails after some time, or when this
     * node leads no more.
     */
    CompletableFuture<?> watch(long index);

    /**
     * By node id, the last entry on the disks of all its voters, or -1; null: this node does not
     * lead.
     */
    Map<String, Long> marks();

    /** Who leads, or empty. */
    String leader();
  }

  private static final class Waiter {
    final long index;
    final CompletableFuture<Void> over = new CompletableFuture<>();

    Waiter(long index) {
      this.index = index;
    }
  }

  private final Engine engine;
  private final Executor later;

  // Guarded by this.
  private final PriorityQueue<Waiter> waiters =
      new PriorityQueue<>(Comparator.comparingLong((Waiter waiter) -> waiter.index));
  private boolean watching;

  /**
   * @param later runs a task after a pause
   */
  ReplicaWatch(Engine engine, Executor later) {
    this.engine = engine;
    this.later = later;
  }

  /** As {@link dev.evenkeel.log.LogGroup#awaitReplicas}. */
  CompletableFuture<Replicas> await(long index, long timeoutMillis) {
    Map<String, Long> marks = engine.marks();
    if (marks == null || everywhere(marks) >= index || timeoutMillis <= 0) {
      return answer(index);
    }
    Waiter waiter = new Waiter(index);
    synchronized (this) {
      if (waiters.size() >= WAITERS_MAX) {
        return CompletableFuture.failedFuture(
            OVERLOADED.error(WAITERS_MAX + " requests wait for all replicas already"));
      }
      waiters.add(waiter);
    }
    // Its timer goes when it is over.
    waiter.over.orTimeout(timeoutMillis, TimeUnit.MILLISECONDS);
    CompletableFuture<Replicas> answer =
        waiter.over.handle((none, late) -> leave(waiter)).thenCompose(left -> answer(index));
    look();
    return answer;
  }

  int waiting() {
    synchronized (this) {
      return waiters.size();
    }
  }

  private synchronized Waiter leave(Waiter waiter) {
    waiters.remove(waiter);
    return waiter;
  }

  /** The answer as of now. */
  private CompletableFuture<Replicas> answer(long index) {
    Map<String, Long> marks = engine.marks();
    if (marks == null) {
      return CompletableFuture.failedFuture(new RefusedException.NotLeader(engine.leader()));
    }
    List<String> missing = new ArrayList<>();
    new TreeMap<>(marks)
        .forEach(
            (node, mark) -> {
              if (mark < index) {
                missing.add(node);
              }
            });
    return CompletableFuture.completedFuture(new Replicas(everywhere(marks), missing));
  }

  private static long everywhere(Map<String, Long> marks) {
    return marks.values().stream().mapToLong(mark -> mark).min().orElse(-1);
  }

  /** Makes the engine watch for the lowest entry, unless it does already. */
  private void look() {
    long index;
    synchronized (this) {
      if (watching || waiters.isEmpty()) {
        return;
      }
      watching = true;
      index = waiters.peek().index;
    }
    engine.watch(index).whenComplete((none, failure) -> seen(failure));
  }

  private void seen(Throwable failure) {
    Map<String, Long> marks = engine.marks();
    List<Waiter> done = new ArrayList<>();
    synchronized (this) {
      watching = false;
      long upTo = marks == null ? Long.MAX_VALUE : everywhere(marks);
      while (!waiters.isEmpty() && waiters.peek().index <= upTo) {
        done.add(waiters.poll());
      }
    }
    done.forEach(waiter -> waiter.over.complete(null));
    if (failure == null && !done.isEmpty()) {
      look();
    } else {
      // The engine gave up, or its answer and its marks differ for a moment.
      later.execute(this::look);
    }
  }
}
