package dev.evenkeel.dedup;

import java.util.Objects;

/**
 * Who asks for a place: a consumer with one of its messages.
 *
 * @param member id of a run of a consumer, never used again; its claims are removed when it dies
 * @param shard shard of the message, for people; {@link #SERVICE}: it asks for no message
 * @param work number of the work, the same wherever and however often it is tried; 0: none
 */
public record Worker(String member, long shard, long work) {
  /**
   * Instead of a shard: the claim is one of a program, and must never go ahead unguarded. A node
   * answers it only while it sees a majority of the cluster.
   */
  public static final long SERVICE = -1;

  public Worker {
    Objects.requireNonNull(member);
  }

  /** Whether it is a program, and no consumer. */
  public boolean isService() {
    return shard == SERVICE;
  }
}
