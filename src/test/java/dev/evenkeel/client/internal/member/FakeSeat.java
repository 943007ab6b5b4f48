package dev.evenkeel.client.internal.member;

import dev.evenkeel.dedup.Claim;
import dev.evenkeel.dedup.DedupKey;
import dev.evenkeel.dedup.SharedAutomata;
import dev.evenkeel.dedup.SharedBucket;
import dev.evenkeel.dedup.Step;
import dev.evenkeel.dedup.StepReply;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;

/** Automata of one JVM without a cluster. Its answers can be kept back. */
final class FakeSeat implements SharedAutomata {
  private final SharedBucket bucket = new SharedBucket();
  private final Map<Integer, Turns> listeners = new ConcurrentHashMap<>();
  private final AtomicInteger numbers = new AtomicInteger();
  private final List<Runnable> kept = new ArrayList<>();
  private boolean keeping;

  /** Answers wait from now on. */
  synchronized void keep() {
    keeping = true;
  }

  /** Answers that wait are given, and further ones at once. */
  void give() {
    List<Runnable> given;
    synchronized (this) {
      keeping = false;
      given = List.copyOf(kept);
      kept.clear();
    }
    given.forEach(Runnable::run);
  }

  synchronized int kept() {
    return kept.size();
  }

  synchronized int keys() {
    return bucket.keys();
  }

  @Override
  public String member() {
    return "m1";
  }

  @Override
  public int listen(Turns turns) {
    int number = numbers.incrementAndGet();
    listeners.put(number, turns);
    return number;
  }

  @Override
  public void forget(int number) {
    listeners.remove(number);
  }

  @Override
  public long nowMillis() {
    return 0;
  }

  @Override
  public CompletionStage<StepReply> step(Step step) {
    CompletableFuture<StepReply> future = new CompletableFuture<>();
    synchronized (this) {
      StepReply reply = bucket.apply(List.of(step), 0, 1_000_000).replies().get(0);
      if (keeping) {
        kept.add(() -> future.complete(reply));
        return future;
      }
      future.complete(reply);
    }
    return future;
  }

  @Override
  public CompletionStage<Void> heard() {
    return CompletableFuture.completedStage(null);
  }

  @Override
  public long silentMillisMax() {
    return 5_000;
  }

  @Override
  public void tell(DedupKey key, Claim head) {
    Turns turns = listeners.get((int) (head.token() >>> 48));
    if (turns != null) {
      turns.head(key, head.token(), head.waitsUntilMillis());
    }
  }
}
