package dev.evenkeel.dedup;

import java.util.Objects;

/**
 * Who asks for a place: a consumer with one of its messages.
 *
 * @param member id of a run of a consumer, never used again; its claims are removed when it dies
 * @param shard shard of the message, for people
 * @param work number of the work, the same wherever and however often it is tried; 0: none
 */
public record Worker(String member, long shard, long work) {
  public Worker {
    Objects.requireNonNull(member);
  }
}
