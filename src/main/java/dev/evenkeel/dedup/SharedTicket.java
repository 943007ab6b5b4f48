package dev.evenkeel.dedup;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

/**
 * A ticket of the clustered form. Its fields are guarded by its monitor, which is never held while
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

  final DedupKey key;
  final long madeMillis;
  private final Worker worker;
  private final long token;
  private final CompletableFuture<Answer> turn = new CompletableFuture<>();
  private final CompletableFuture<Answer> answered = new CompletableFuture<>();
  private volatile Answer first;
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
    madeMillis = nowMillis;
    heardMillis = nowMillis;
  }

  void first(Answer answer) {
    first = answer;
  }

  /** Not under a lock: whoever waits runs at once. */
  void complete(Answer answer) {
    answered.complete(answer);
    turn.complete(answer);
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
    return first;
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
