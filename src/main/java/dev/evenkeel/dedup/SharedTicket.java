package dev.evenkeel.dedup;

import dev.evenkeel.protocol.RefusedException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/**
 * A ticket of {@link ClusteredCoordinator}: what the coordinator knows of one request. Only the
 * coordinator uses its fields, under the monitor of the ticket, which it never holds while it calls
 * others.
 */
final class SharedTicket implements Ticket<DedupKey> {
  /** The state of the request, as far as this process knows. */
  enum Stage {
    /** There was no answer yet. */
    ASKED,
    WAITING,
    AT_WORK,
    /** It was declined or given back. */
    OVER
  }

  private final DedupKey key;
  private final Worker worker;
  private final long token;
  private final CompletableFuture<Answer> turn = new CompletableFuture<>();
  private final CompletableFuture<Answer> answered = new CompletableFuture<>();

  /** The first answer; null until it comes. */
  volatile @Nullable Answer answer;

  Stage stage = Stage.ASKED;

  /** Its claim in the cluster. Each request replaces it. */
  volatile SharedClaim claim;

  /** Whether a request is under way. */
  boolean asking;

  /** Whether a message said meanwhile that it is the head. */
  boolean headMessage;

  /** How many requests were sent. */
  int asks;

  volatile long askedMillis;

  /** Since when the head has worked, by the clock of this process, as the last answer says. */
  volatile long sinceMillis;

  /** When the last answer came, or the ticket was made. */
  long heardMillis;

  /** Completes when the place was given back; null until that begins. */
  @Nullable CompletableFuture<Departure> leaving;

  int leaveTries;

  SharedTicket(DedupKey key, Worker worker, SharedClaim claim, long nowMillis) {
    this.key = key;
    this.worker = worker;
    this.token = claim.token;
    this.claim = claim;
    heardMillis = nowMillis;
  }

  synchronized boolean awaitsItsTurn() {
    return stage == Stage.ASKED || stage == Stage.WAITING;
  }

  /** Completes the ticket, whose callbacks run at once. Do not call it while holding a lock. */
  void complete(Answer outcome) {
    answered.complete(outcome);
    turn.complete(outcome);
  }

  /** Ends a guarded request. Do not call it while holding a lock. */
  void fail(RefusedException why) {
    answered.completeExceptionally(why);
    turn.completeExceptionally(why);
  }

  /** Says that the request has to wait. Do not call it while holding a lock. */
  void blocked() {
    answered.complete(Answer.BLOCK);
  }

  @Override
  public DedupKey key() {
    return key;
  }

  @Override
  public Worker worker() {
    return worker;
  }

  @Override
  public long token() {
    return token;
  }

  @Override
  public @Nullable Answer answer() {
    return answer;
  }

  @Override
  public CompletionStage<Answer> answered() {
    return answered;
  }

  @Override
  public CompletionStage<Answer> turn() {
    return turn;
  }
}
