package dev.evenkeel.cluster;

import dev.evenkeel.dedup.DedupKey;
import dev.evenkeel.dedup.KeyedStep;
import dev.evenkeel.dedup.SharedBucket;
import dev.evenkeel.dedup.SharedCodec;
import dev.evenkeel.dedup.StepReply;
import dev.evenkeel.dedup.StepRequest;
import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.RefusedException;
import io.vertx.core.Context;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Supplier;

/**
 * Sends steps to where their keys lie. Of each bucket one batch is under way at a time, and the
 * steps that come meanwhile go together in the next: nobody waits for a batch to fill, and the more
 * there is to do, the more of it one message carries. A bucket that does not answer holds up no
 * other.
 */
final class StepBatches {
  /** Brings steps to their bucket. May block while it starts. */
  interface Carrier {
    /** Completes, on any thread, with {@link SharedCodec#replies} to {@link SharedCodec#steps}. */
    CompletionStage<byte[]> carry(int bucket, byte[] steps);
  }

  /** Steps that may wait at once, besides those under way. */
  static final int WAITING_STEPS_MAX = 10_000;

  static final int BATCH_STEPS_MAX = 1_000;

  /** A step, and where to go on with its reply; null: on the batches' thread. */
  private static final class Step {
    final KeyedStep keyed;
    final Context home;
    final CompletableFuture<StepReply> future = new CompletableFuture<>();
    StepReply reply;
    RefusedException failure;

    Step(KeyedStep keyed, Context home) {
      this.keyed = keyed;
      this.home = home;
    }

    void complete() {
      if (failure != null) {
        future.completeExceptionally(failure);
      } else {
        future.complete(reply);
      }
    }
  }

  /** The steps that wait to go to one bucket. */
  private static final class Lane {
    final int bucket;
    private final ArrayDeque<Step> steps = new ArrayDeque<>();
    private boolean busy;

    Lane(int bucket) {
      this.bucket = bucket;
    }

    /** Whether somebody has to begin to send. */
    synchronized boolean add(Step step) {
      steps.add(step);
      boolean begin = !busy;
      busy = true;
      return begin;
    }

    /** The next batch; if it is empty, sending is over. */
    synchronized List<Step> take() {
      List<Step> batch = new ArrayList<>(Math.min(steps.size(), BATCH_STEPS_MAX));
      while (!steps.isEmpty() && batch.size() < BATCH_STEPS_MAX) {
        batch.add(steps.poll());
      }
      busy = !batch.isEmpty();
      return batch;
    }
  }

  private final Carrier carrier;
  private final Executor executor;
  private final Supplier<Context> homes;
  private final Lane[] lanes;
  private final LongAdder overflowed = new LongAdder();
  private final AtomicInteger waiting = new AtomicInteger();
  private volatile boolean closed;

  /**
   * @param buckets how many there are, a power of two
   * @param executor one thread: all sending is done there
   * @param homes gives the context on which the caller wants its answer, or null
   */
  StepBatches(int buckets, Carrier carrier, Executor executor, Supplier<Context> homes) {
    this.carrier = carrier;
    this.executor = executor;
    this.homes = homes;
    lanes = new Lane[buckets];
    for (int i = 0; i < buckets; i++) {
      lanes[i] = new Lane(i);
    }
  }

  /** The bucket of a key. Every process of a cluster must agree. */
  private Lane lane(DedupKey key) {
    return lanes[key.hashCode() * 0x9e3779b9 >>> 16 & lanes.length - 1];
  }

  /** Does one step. Any failure is UNAVAILABLE, past the limit OVERLOADED. */
  CompletionStage<StepReply> step(DedupKey key, StepRequest request) {
    Step step = new Step(new KeyedStep(key, request), homes.get());
    if (waiting.incrementAndGet() > WAITING_STEPS_MAX) {
      waiting.decrementAndGet();
      return CompletableFuture.failedStage(
          new RefusedException(
              Refusal.OVERLOADED,
              "more than " + WAITING_STEPS_MAX + " steps wait for the shared map"));
    }
    Lane lane = lane(key);
    if (lane.add(step)) {
      execute(() -> send(lane));
    }
    return step.future;
  }

  private void execute(Runnable task) {
    try {
      executor.execute(task);
    } catch (RejectedExecutionException e) {
      // It was closed meanwhile: all that is left is to say so.
      task.run();
    }
  }

  private void send(Lane lane) {
    List<Step> batch = lane.take();
    if (batch.isEmpty()) {
      return;
    }
    waiting.addAndGet(-batch.size());
    CompletionStage<byte[]> replies;
    try {
      if (closed) {
        throw new IllegalStateException("this member has left the cluster");
      }
      List<KeyedStep> steps = batch.stream().map(step -> step.keyed).toList();
      replies = carrier.carry(lane.bucket, SharedCodec.steps(steps));
    } catch (RuntimeException e) {
      replies = CompletableFuture.failedStage(e);
    }
    // Not without an executor: Hazelcast's own is a new thread for each on small machines.
    replies.whenCompleteAsync(
        (bytes, failure) -> carried(lane, batch, bytes, failure), this::execute);
  }

  private void carried(Lane lane, List<Step> batch, byte[] bytes, Throwable failure) {
    RefusedException refused = failure == null ? null : unavailable(failure);
    List<StepReply> replies = List.of();
    if (refused == null) {
      try {
        replies = replies(bytes, batch.size());
      } catch (RuntimeException e) {
        refused = unavailable(e);
      }
    }
    for (int i = 0; i < batch.size(); i++) {
      batch.get(i).failure = refused;
      batch.get(i).reply = refused == null ? replies.get(i) : null;
    }
    complete(batch);
    // Only now: what the answers led to goes with the next batch.
    execute(() -> send(lane));
  }

  private List<StepReply> replies(byte[] bytes, int count) {
    SharedBucket.Replies replies = SharedCodec.replies(bytes);
    if (replies.replies().size() != count) {
      throw new IllegalStateException("replies are missing");
    }
    if (replies.overflowed() > 0) {
      overflowed.add(replies.overflowed());
    }
    return replies.replies();
  }

  /** Keys that these steps pushed out. */
  long overflowed() {
    return overflowed.sum();
  }

  /** One hop for each home, not for each step. */
  private static void complete(List<Step> batch) {
    Map<Context, List<Step>> away = new IdentityHashMap<>();
    for (Step step : batch) {
      if (step.home == null) {
        step.complete();
      } else {
        away.computeIfAbsent(step.home, home -> new ArrayList<>()).add(step);
      }
    }
    away.forEach((home, steps) -> home.runOnContext(on -> steps.forEach(Step::complete)));
  }

  private static RefusedException unavailable(Throwable failure) {
    return new RefusedException(
        Refusal.UNAVAILABLE, "the shared map is out of reach: " + failure.getMessage());
  }

  /** Whatever waits, and whatever comes, is UNAVAILABLE. */
  void close() {
    closed = true;
  }
}
