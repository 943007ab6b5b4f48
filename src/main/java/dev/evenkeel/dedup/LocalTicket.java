package dev.evenkeel.dedup;

import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/** A claim and ticket within one JVM. A blocked one holds the future that wakes its waiter. */
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
  @SuppressWarnings("NullAway.Init")
  private Answer answer;

  private @Nullable CompletableFuture<Answer> turn;

  /** The slot of its place, present or former; null if it was declined. */
  @Nullable Slot<K> slot;

  /** Whether it was given back. Guarded by the lock of its stripe. */
  boolean left;

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

  /** Whether it had a place and has not been given back yet. */
  boolean leaves() {
    return !left && answer != Answer.DECLINE;
  }

  /** Wakes the waiter, whose callbacks run at once. Do not call it while holding a lock. */
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
      case BLOCK -> Objects.requireNonNull(turn);
      case DECLINE -> DECLINED;
    };
  }
}
