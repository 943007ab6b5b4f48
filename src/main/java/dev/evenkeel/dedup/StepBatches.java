package dev.evenkeel.dedup;

import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.RefusedException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Sends dedup steps to their buckets in batches. Each bucket has one batch under way at a time, and
 * the next batch takes all steps that came meanwhile. So no step waits for a batch to fill, batches
 * grow with the load, and a bucket that does not answer does not delay the others.
 */
public final class StepBatches {
  /**
   * How many buckets the shared map has for keys of groups, and once more for keys of dedups by
   * name. A bucket takes one batch of steps after another: fewer buckets make larger batches, more
   * buckets spread the work over more members. All processes of a cluster must use the same number.
   */
  public static final int BUCKETS = 16;

  /** Sends steps to a bucket. May block while it starts. */
  public interface Carrier {
    /** Completes, on any thread, with {@link SharedCodec#replies} to {@link SharedCodec#steps}. */
    CompletionStage<Carried> carry(int bucket, byte[] steps);
  }

  /**
   * What comes back for a batch.
   *
   * @param replies see {@link SharedCodec#replies}
   * @param counts after what ACCEPT and DECLINE count, to be asked when the replies are here; null:
   *     at once
   */
  public record Carried(byte[] replies, @Nullable Supplier<CompletionStage<Void>> counts) {
    public Carried(byte[] replies) {
      this(replies, null);
    }
  }

  /** Most steps that wait at once, besides those under way. */
  static final int WAITING_STEPS_MAX = 10_000;

  public static final int BATCH_STEPS_MAX = 1_000;

  /** A step and what completes its future; null: the thread of the batches does. */
  private record Pending(Step step, @Nullable Executor home, CompletableFuture<StepReply> future) {}

  /** The steps that wait to go to one bucket. */
  private static final class Bucket {
    final int number;
    private final ArrayDeque<Pending> steps = new ArrayDeque<>();
    private boolean busy;

    Bucket(int number) {
      this.number = number;
    }

    /** Adds a step. Returns whether the caller has to begin sending. */
    synchronized boolean add(Pending step) {
      steps.add(step);
      boolean begin = !busy;
      busy = true;
      return begin;
    }

    /** The next batch; if it is empty, sending ends. */
    synchronized List<Pending> take() {
      List<Pending> batch = new ArrayList<>(Math.min(steps.size(), BATCH_STEPS_MAX));
      while (!steps.isEmpty() && batch.size() < BATCH_STEPS_MAX) {
        batch.add(steps.poll());
      }
      busy = !batch.isEmpty();
      return batch;
    }
  }

  private final Carrier carrier;
  private final Executor executor;
  private final Supplier<? extends @Nullable Executor> homes;
  private final Bucket[] buckets;
  private final LongAdder overflowed = new LongAdder();
  private final AtomicInteger waiting = new AtomicInteger();
  private volatile boolean closed;

  /**
   * @param buckets how many there are of each kind, a power of two
   * @param executor one thread: all sending is done there
   * @param homes gives what runs tasks for the caller, which gets its reply there; or null. It
   *     gives equal ones for one caller
   */
  public StepBatches(
      int buckets,
      Carrier carrier,
      Executor executor,
      Supplier<? extends @Nullable Executor> homes) {
    this.carrier = carrier;
    this.executor = executor;
    this.homes = homes;
    this.buckets = new Bucket[2 * buckets];
    Arrays.setAll(this.buckets, Bucket::new);
  }

  /**
   * The bucket of a step: one of the first half, or one of the second half if the claim is one of a
   * program. So no step of a group meets such a claim. Every process of a cluster must compute the
   * same bucket.
   */
  private Bucket bucket(Step step) {
    int each = buckets.length / 2;
    boolean service = step.claim().worker().isService();
    int hash = DedupKey.folded(service ? step.key().low() : step.key().high());
    return buckets[(hash * 0x9e3779b9 >>> 16 & each - 1) + (service ? each : 0)];
  }

  /**
   * Sends one step. A failure is UNAVAILABLE or FORBIDDEN, and a step beyond the limit OVERLOADED.
   */
  public CompletionStage<StepReply> step(Step step) {
    if (waiting.incrementAndGet() > WAITING_STEPS_MAX) {
      waiting.decrementAndGet();
      return CompletableFuture.failedStage(
          Refusal.OVERLOADED.error(
              "more than " + WAITING_STEPS_MAX + " steps wait for the shared map"));
    }
    Pending pending = new Pending(step, homes.get(), new CompletableFuture<>());
    Bucket bucket = bucket(step);
    if (bucket.add(pending)) {
      execute(() -> send(bucket));
    }
    return pending.future;
  }

  private void execute(Runnable task) {
    try {
      executor.execute(task);
    } catch (RejectedExecutionException e) {
      // It was closed meanwhile: the task only fails the steps.
      task.run();
    }
  }

  private void send(Bucket bucket) {
    List<Pending> batch = bucket.take();
    if (batch.isEmpty()) {
      return;
    }
    waiting.addAndGet(-batch.size());
    CompletionStage<Carried> carried;
    try {
      if (closed) {
        throw new IllegalStateException("this member has left the cluster");
      }
      List<Step> steps = batch.stream().map(Pending::step).toList();
      carried = carrier.carry(bucket.number, SharedCodec.steps(steps));
    } catch (RuntimeException e) {
      carried = CompletableFuture.failedStage(e);
    }
    // One stage, with this executor: for each without one, Hazelcast starts a thread on small
    // machines.
    carried.whenCompleteAsync(
        (back, failure) -> {
          carried(batch, back, failure);
          // Not sooner: steps that the replies cause go with the next batch.
          execute(() -> send(bucket));
        },
        this::execute);
  }

  private void carried(List<Pending> batch, Carried back, @Nullable Throwable failure) {
    List<StepReply> replies;
    try {
      replies = failure == null ? replies(back.replies(), batch.size()) : List.of();
    } catch (RuntimeException e) {
      complete(batch, List.of(), unavailable(e));
      return;
    }
    Supplier<CompletionStage<Void>> counts = failure == null ? back.counts() : null;
    if (counts == null) {
      complete(batch, replies, failure == null ? null : unavailable(failure));
      return;
    }
    List<Pending> later = new ArrayList<>();
    List<StepReply> laterReplies = new ArrayList<>();
    List<Pending> now = new ArrayList<>();
    List<StepReply> nowReplies = new ArrayList<>();
    for (int i = 0; i < batch.size(); i++) {
      StepReply reply = replies.get(i);
      boolean waits = reply.answer() == Answer.ACCEPT || reply.answer() == Answer.DECLINE;
      (waits ? later : now).add(batch.get(i));
      (waits ? laterReplies : nowReplies).add(reply);
    }
    if (!later.isEmpty()) {
      counts
          .get()
          .whenComplete(
              (done, why) ->
                  complete(later, laterReplies, why == null ? null : RefusedException.of(why)));
    }
    complete(now, nowReplies, null);
  }

  private List<StepReply> replies(byte[] bytes, int count) {
    SharedBucket.Replies replies = SharedCodec.replies(bytes);
    if (replies.replies().size() != count) {
      throw new IllegalStateException("replies are missing");
    }
    overflowed.add(replies.overflowed());
    return replies.replies();
  }

  /** How many keys these steps pushed out. */
  public long overflowed() {
    return overflowed.sum();
  }

  /** One task per caller, not per step. */
  private static void complete(
      List<Pending> batch, List<StepReply> replies, @Nullable RefusedException refused) {
    Map<Executor, List<Runnable>> away = new HashMap<>();
    for (int i = 0; i < batch.size(); i++) {
      Pending pending = batch.get(i);
      StepReply reply = refused == null ? replies.get(i) : null;
      Runnable completion =
          () -> {
            if (refused == null) {
              pending.future.complete(reply);
            } else {
              pending.future.completeExceptionally(refused);
            }
          };
      if (pending.home == null) {
        completion.run();
      } else {
        away.computeIfAbsent(pending.home, home -> new ArrayList<>()).add(completion);
      }
    }
    away.forEach((home, all) -> home.execute(() -> all.forEach(Runnable::run)));
  }

  private static RefusedException unavailable(Throwable failure) {
    Throwable inner = failure.getCause();
    Throwable cause = failure instanceof CompletionException && inner != null ? inner : failure;
    if (cause instanceof RefusedException refused && refused.refusal() == Refusal.FORBIDDEN) {
      return refused;
    }
    return Refusal.UNAVAILABLE.error("the shared map is out of reach: " + cause.getMessage());
  }

  /** Fails all steps, waiting and new ones, with UNAVAILABLE. */
  public void close() {
    closed = true;
  }
}
