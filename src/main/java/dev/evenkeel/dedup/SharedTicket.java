package dev.evenkeel.dedup;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

/**
 * A ticket of the clustered form: what {@link ClusteredCoordinator} knows of one request. Its
 * fields are the coordinator's, and guarded by the ticket's monitor, which is never held while
 * anybody is called.
 */
final class SharedTicket implements Ticket<DedupKey> {
  /** Where it stands, as far as this process knows. */
  enum Stage {
    /** Nothing was answered yet. */
    ASKED,
    WAITING,
    AT_WORK,
    /** Declined, or given back: nothing is kept for it. */
    OVER
  }

  private final DedupKey key;
  private final Worker worker;
  private final long token;
  private final CompletableFuture<Answer> turn = new CompletableFuture<>();
  private final CompletableFuture<Answer> answered = new CompletableFuture<>();

  /** The first one; null until it comes. */
  volatile Answer answer;

  Stage stage = Stage.ASKED;

  /** Under which it stands in the cluster. Another one after the process has joined afresh. */
  SharedClaim claim;

  /** A request for it is under way. */
  boolean asking;

  /** It was said to be the head meanwhile. */
  boolean told;

  /** How often it was asked for. */
  int asks;

  long askedMillis;

  /** When an answer about it came last, or it was made. */
  long heardMillis;

  /** Completes when it was given back; null until that begins. */
  CompletableFuture<Departure> leaving;

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

  /** Not under a lock: whoever waits runs at once. */
  void complete(Answer outcome) {
    answered.complete(outcome);
    turn.complete(outcome);
  }

  /** It has to wait. Not under a lock, either. */
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
  public Answer answer() {
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
