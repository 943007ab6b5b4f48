package dev.evenkeel.assign;

import dev.evenkeel.protocol.GroupLease;
import java.util.Collection;
import java.util.Comparator;
import org.jspecify.annotations.Nullable;

/**
 * Elects the leader of a group in mode singleton. The result depends only on the members'
 * heartbeats and the group's lease, so every dispatcher elects the same.
 *
 * <p>In this order: one that finishes something before one that is stuck; then the present leader,
 * so that nobody who comes takes the lead away; then those that never resigned, and of the others
 * the one that resigned first; then the one that registered first.
 */
public final class Election {
  /**
   * A member that may lead.
   *
   * @param instance this run of the member
   * @param bornMillis when the run began, by its own clock
   * @param resignedTerm the last term at which it resigned; 0: at none
   * @param stuck it sends heartbeats and finishes nothing
   */
  public record Candidate(
      String name, String instance, long bornMillis, long resignedTerm, boolean stuck) {}

  private Election() {}

  /**
   * The candidate that is to lead; null if there are none. One that resigned leads on if there is
   * nobody else.
   */
  public static @Nullable Candidate elect(GroupLease lease, Collection<Candidate> candidates) {
    return candidates.stream().min(order(lease)).orElse(null);
  }

  private static Comparator<Candidate> order(GroupLease lease) {
    return Comparator.comparing(Candidate::stuck)
        .thenComparing(candidate -> !leads(lease, candidate))
        .thenComparing(Candidate::resignedTerm)
        .thenComparing(Candidate::bornMillis)
        .thenComparing(Candidate::instance);
  }

  /** Whether it is the present leader, and has not resigned as that. */
  private static boolean leads(GroupLease lease, Candidate candidate) {
    return candidate.instance().equals(lease.instance()) && candidate.resignedTerm() < lease.term();
  }
}
