package dev.evenkeel.protocol;

import org.jspecify.annotations.Nullable;

/**
 * A handover in progress.
 *
 * @param to the member that gets the shard next; empty: any member may
 * @param deadlineMillis when the shard is granted even without a release, in milliseconds since
 *     1970
 * @param heir the run of {@code to} that the release grants the shard to, in the same record; null:
 *     the release leaves the shard without an owner, and the dispatcher grants it
 */
public record Drain(String to, long deadlineMillis, @Nullable Heir heir) {

  /**
   * The next owner.
   *
   * @param instance which run of the member
   * @param timeoutMillis silence after which it counts as dead
   */
  public record Heir(String instance, long timeoutMillis) {}

  /** A handover in which the dispatcher grants the shard after the release. */
  public Drain(String to, long deadlineMillis) {
    this(to, deadlineMillis, null);
  }

  /** The same handover, in which the dispatcher grants the shard. */
  public Drain withoutHeir() {
    return heir == null ? this : new Drain(to, deadlineMillis);
  }
}
