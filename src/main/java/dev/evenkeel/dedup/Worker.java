package dev.evenkeel.dedup;

import java.util.Objects;

/**
 * Who asks: a consumer, with one of its messages. Not a thread, because threads are shared and
 * change.
 *
 * @param member a run of a consumer, unique for ever; its death gives up its places
 * @param shard of the message; for people
 * @param work number of the piece of work that it asks for, the same wherever and however often
 *     that is tried; 0: it has none
 */
public record Worker(String member, long shard, long work) {
  public Worker {
    Objects.requireNonNull(member);
  }

  /** For work without a number. */
  public Worker(String member, long shard) {
    this(member, shard, 0);
  }
}
