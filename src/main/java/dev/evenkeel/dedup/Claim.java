package dev.evenkeel.dedup;

import org.jspecify.annotations.Nullable;

/**
 * A claim to a place at an {@link Automaton}. Two are the same claim if member and token are equal,
 * so a repeated request is recognized, and an evicted claim is never mistaken for its successor.
 */
public class Claim {
  final Worker worker;
  final long token;

  /** When it got its present place, by the clock of the automaton. */
  long sinceMillis;

  /**
   * @param token number of the claim, never used again by the worker's member
   */
  public Claim(Worker worker, long token) {
    this(worker, token, 0);
  }

  Claim(Worker worker, long token, long sinceMillis) {
    this.worker = worker;
    this.token = token;
    this.sinceMillis = sinceMillis;
  }

  public final Worker worker() {
    return worker;
  }

  /** When it got its present place, by the clock of the automaton. */
  public final long sinceMillis() {
    return sinceMillis;
  }

  /** A number that grows with each claim of a member. */
  public final long token() {
    return token;
  }

  public final boolean same(@Nullable Claim other) {
    return other == this
        || other != null && token == other.token && worker.member().equals(other.worker.member());
  }

  /** Whether both are for the same work; false if the work has no number. */
  final boolean sameWork(Claim other) {
    return worker.work() != 0 && worker.work() == other.worker.work();
  }

  /** While it waits: it does not begin before this time without being the head. */
  public long waitsUntilMillis() {
    return Long.MAX_VALUE;
  }

  @Override
  public String toString() {
    return worker.member() + "/" + worker.shard() + "#" + token;
  }
}
