package dev.evenkeel.client.internal.member;

import dev.evenkeel.dedup.Claim;
import dev.evenkeel.dedup.DedupKey;
import dev.evenkeel.dedup.SharedAutomata;
import dev.evenkeel.dedup.Step;
import dev.evenkeel.dedup.StepReply;
import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.RefusedException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

/** Stands in for shared automata while there is no connection: every request fails. */
enum NoAutomata implements SharedAutomata {
  INSTANCE;

  @Override
  public String member() {
    return "";
  }

  @Override
  public int listen(Turns turns) {
    return 0;
  }

  @Override
  public void forget(int number) {
    // It has no listeners.
  }

  @Override
  public long nowMillis() {
    return 0;
  }

  @Override
  public CompletionStage<StepReply> step(Step step) {
    return CompletableFuture.failedStage(notConnected());
  }

  @Override
  public CompletionStage<Void> heard() {
    return CompletableFuture.failedStage(notConnected());
  }

  @Override
  public long silentMillisMax() {
    return 0;
  }

  private static RefusedException notConnected() {
    return Refusal.UNAVAILABLE.error("not connected");
  }

  @Override
  public void tell(DedupKey key, Claim head) {
    // Nobody listens.
  }
}
