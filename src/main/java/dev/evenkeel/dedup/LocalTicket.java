package dev.evenkeel.dedup;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

/** A claim in this JVM. One that is blocked carries what wakes it. */
final class LocalTicket<K> extends Claim implements Ticket<K> {
  private static final CompletionStage<Answer> ACCEPTED =
      CompletableFuture.completedStage(Answer.ACCEPT);
  private static final CompletionStage<Answer> BLOCKED =
      CompletableFuture.completedStage(Answer.BLOCK);
  private static final CompletionStage<Answer> DECLINED =
      CompletableFuture.completedStage(Answer.DECLINE);

  final K key;
  final int hash;

  /** Set once, before anybody else sees this ticket. */
  private Answer answer;

  private CompletableFuture<Answer> turn;

  /** Where it has, or had, its place; null if it was declined. */
  private Slot<K> slot;

  /** It was given back. Guarded by its stripe's lock. */
  private boolean left;

  LocalTicket(K key, int hash, Worker worker, long token) {
    super(worker, token);
    this.key = key;
    this.hash = hash;
  }

  void answered(Answer given, Slot<K> at) {
    answer = given;
    slot = given == Answer.DECLINE ? null : at;
    if (given == Answer.BLOCK) {
      turn = new CompletableFuture<>();
    }
  }

  /** Whether it is being given back for the first time and had a place. */
  boolean leaves() {
    return !left && answer != Answer.DECLINE;
  }

  Slot<K> slot() {
    return slot;
  }

  void left() {
    left = true;
  }

  /** Not under a lock: whoever waits runs at once. */
  void wake() {
    if (turn != null) {
      turn.complete(Answer.ACCEPT);
    }
  }

  @Override
  public K key() {
    return key;
  }

  @Override
  public Answer answer() {
    return answer;
  }

  @Override
  public CompletionStage<Answer> answered() {
    return answer == Answer.BLOCK ? BLOCKED : turn();
  }

  @Override
  public CompletionStage<Answer> turn() {
    return switch (answer) {
      case ACCEPT -> ACCEPTED;
      case BLOCK -> turn;
      case DECLINE -> DECLINED;
    };
  }
}
