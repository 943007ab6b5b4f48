package dev.evenkeel.dedup;

/**
 * A place at an {@link Automaton}, or the wish for one. Two are the same claim if member and token
 * are equal, so a request that is repeated is recognized, and one that was evicted is never taken
 * for its successor.
 */
public class Claim {
  final Worker worker;
  final long token;

  /** Since when it has the place that it has, in the automaton's milliseconds. */
  long sinceMillis;

  /**
   * @param token unique for ever among the claims of {@code worker}'s member
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

  /** Grows with each claim of a member: of two of its claims the later has the higher one. */
  public final long token() {
    return token;
  }

  public final boolean same(Claim other) {
    return other == this
        || other != null && token == other.token && worker.member().equals(other.worker.member());
  }

  /** Whether it is for the same piece of work, as far as that is numbered. */
  final boolean sameWork(Claim other) {
    return worker.work() != 0 && worker.work() == other.worker.work();
  }

  /** While it waits: no sooner than this does it begin without being the head. */
  public long waitsUntilMillis() {
    return Long.MAX_VALUE;
  }

  @Override
  public String toString() {
    return worker.member() + "/" + worker.shard() + "#" + token;
  }
}
