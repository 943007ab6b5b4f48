package dev.evenkeel.dedup;

import static dev.evenkeel.Loops.times;
import static org.assertj.core.api.Assertions.assertThat;

import dev.evenkeel.dedup.StepBatches.Carried;
import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.RefusedException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.function.BiConsumer;
import java.util.function.BiFunction;
import java.util.function.Function;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;

class StepBatchesTest {
  private record Sent(int bucket, byte[] steps, CompletableFuture<Carried> reply) {
    int count() {
      return SharedCodec.steps(steps).size();
    }
  }

  /** As Hazelcast's, which starts a thread for a stage that names no executor. */
  private static final class OfHazelcast extends CompletableFuture<Carried> {
    @Override
    public <U> CompletableFuture<U> thenApply(Function<? super Carried, ? extends U> next) {
      throw new AssertionError("a stage without an executor");
    }

    @Override
    public <U> CompletableFuture<U> handle(
        BiFunction<? super Carried, Throwable, ? extends U> next) {
      throw new AssertionError("a stage without an executor");
    }

    @Override
    public CompletableFuture<Carried> whenComplete(
        BiConsumer<? super Carried, ? super Throwable> next) {
      throw new AssertionError("a stage without an executor");
    }
  }

  private final ArrayDeque<Runnable> tasks = new ArrayDeque<>();
  private final List<Sent> carried = new ArrayList<>();
  private final SharedBucket bucket = new SharedBucket();
  private final StepBatches batches = new StepBatches(1, this::carry, tasks::add, () -> null);
  private long tokens;

  private CompletableFuture<Carried> carry(int number, byte[] steps) {
    CompletableFuture<Carried> reply = new OfHazelcast();
    carried.add(new Sent(number, steps, reply));
    return reply;
  }

  private void run() {
    while (!tasks.isEmpty()) {
      tasks.poll().run();
    }
  }

  private CompletableFuture<StepReply> ask() {
    SharedClaim claim = new SharedClaim(new Worker("m", 0, 0), ++tokens, 1_000, 1_000);
    return batches
        .step(new Step(Step.Kind.ENQUEUE, new DedupKey(1, 1), claim))
        .toCompletableFuture();
  }

  private void reply(Sent to) {
    reply(to, null);
  }

  private void reply(Sent to, Supplier<CompletionStage<Void>> counts) {
    SharedBucket.Replies replies = bucket.apply(SharedCodec.steps(to.steps), 1, 10);
    to.reply.complete(new Carried(SharedCodec.replies(replies), counts));
    run();
  }

  private static Refusal refusal(CompletableFuture<StepReply> step) {
    try {
      step.join();
      return null;
    } catch (CompletionException e) {
      return ((RefusedException) e.getCause()).refusal();
    }
  }

  @Test
  void stepsThatComeMeanwhileGoTogetherInTheNext() {
    CompletableFuture<StepReply> first = ask();
    run();
    CompletableFuture<StepReply> second = ask();
    CompletableFuture<StepReply> third = ask();
    run();
    assertThat(carried).hasSize(1);
    reply(carried.get(0));
    assertThat(first.join().answer()).isEqualTo(Answer.ACCEPT);
    assertThat(carried).hasSize(2);
    assertThat(carried.get(1).count()).isEqualTo(2);
    reply(carried.get(1));
    assertThat(second.join().answer()).isEqualTo(Answer.BLOCK);
    assertThat(third.join().answer()).isEqualTo(Answer.DECLINE);
    ask();
    run();
    assertThat(carried).hasSize(3);
  }

  /** The buckets of groups' keys are those of former versions. */
  @Test
  void claimsOfProgramsHaveBucketsOfTheirOwn() {
    StepBatches many = new StepBatches(16, this::carry, tasks::add, () -> null);
    Set<Integer> ofGroups = new TreeSet<>();
    Set<Integer> ofPrograms = new TreeSet<>();
    for (long i = 0; i < 1_000; i++) {
      long half = i * 0x9e3779b97f4a7c15L;
      many.step(step(new DedupKey(half, 1), 0));
      run();
      int hash = (int) (half ^ half >>> 32);
      assertThat(carried.get(0).bucket).isEqualTo(hash * 0x9e3779b9 >>> 16 & 15);
      ofGroups.add(carried.get(0).bucket);
      reply(carried.remove(0));
      many.step(step(new DedupKey(1, half), Worker.SERVICE));
      run();
      ofPrograms.add(carried.get(0).bucket);
      reply(carried.remove(0));
    }
    assertThat(ofGroups).hasSize(16).allMatch(number -> number < 16);
    assertThat(ofPrograms).hasSize(16).allMatch(number -> number >= 16 && number < 32);
  }

  private static Step step(DedupKey key, long shard) {
    SharedClaim claim = new SharedClaim(new Worker("m", shard, 0), 1, 1_000, 1_000);
    return new Step(Step.Kind.DEQUEUE, key, claim);
  }

  @Test
  void onlyWhatAProgramReliesOnWaitsUntilItCounts() {
    ask();
    run();
    CompletableFuture<StepReply> blocked = ask();
    CompletableFuture<StepReply> declined = ask();
    reply(carried.get(0));
    List<CompletableFuture<Void>> asked = new ArrayList<>();
    Supplier<CompletionStage<Void>> counts =
        () -> {
          asked.add(new CompletableFuture<>());
          return asked.get(asked.size() - 1);
        };
    reply(carried.get(1), counts);
    assertThat(blocked.join().answer()).isEqualTo(Answer.BLOCK);
    assertThat(asked).hasSize(1);
    assertThat(declined).isNotDone();
    asked.get(0).complete(null);
    assertThat(declined.join().answer()).isEqualTo(Answer.DECLINE);
    CompletableFuture<StepReply> never = ask();
    run();
    reply(carried.get(2), counts);
    asked.get(1).completeExceptionally(Refusal.UNAVAILABLE.error("no majority"));
    assertThat(refusal(never)).isEqualTo(Refusal.UNAVAILABLE);
  }

  @Test
  void aBatchThatFailsFailsItsStepsAndTheNextGoes() {
    CompletableFuture<StepReply> first = ask();
    run();
    CompletableFuture<StepReply> second = ask();
    carried.get(0).reply.completeExceptionally(new IllegalStateException("lost"));
    run();
    assertThat(refusal(first)).isEqualTo(Refusal.UNAVAILABLE);
    carried.get(1).reply.complete(new Carried(new byte[] {99, 0}));
    run();
    assertThat(refusal(second)).isEqualTo(Refusal.UNAVAILABLE);
    CompletableFuture<StepReply> third = ask();
    run();
    reply(carried.get(2));
    assertThat(third.join().answer()).isEqualTo(Answer.ACCEPT);
  }

  @Test
  void whatWaitsIsBoundedAndSoIsABatch() {
    ask();
    run();
    List<CompletableFuture<StepReply>> waiting = new ArrayList<>();
    times(StepBatches.WAITING_STEPS_MAX, i -> waiting.add(ask()));
    assertThat(waiting).noneMatch(CompletableFuture::isDone);
    assertThat(refusal(ask())).isEqualTo(Refusal.OVERLOADED);
    reply(carried.get(0));
    assertThat(carried.get(1).count()).isEqualTo(StepBatches.BATCH_STEPS_MAX);
  }

  @Test
  void afterItIsClosedNothingWaitsForEver() {
    CompletableFuture<StepReply> under = ask();
    run();
    CompletableFuture<StepReply> waiting = ask();
    batches.close();
    reply(carried.get(0));
    assertThat(under.join().answer()).isEqualTo(Answer.ACCEPT);
    assertThat(refusal(waiting)).isEqualTo(Refusal.UNAVAILABLE);
    CompletableFuture<StepReply> late = ask();
    run();
    assertThat(refusal(late)).isEqualTo(Refusal.UNAVAILABLE);
  }
}
