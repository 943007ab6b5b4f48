package dev.evenkeel.dedup;

import java.util.Objects;

/**
 * Who asks: not a thread, because threads are shared and change. One lane works on one message at a
 * time; where any number run side by side, a number of the message will do.
 *
 * @param member a run of a consumer, unique for ever; its death gives up its places
 * @param lane which of the member's lanes; for people
 * @param work number of the piece of work that it asks for, the same wherever and however often
 *     that is tried; 0: it has none
 */
public record Worker(String member, long lane, long work) {
  public Worker {
    Objects.requireNonNull(member);
  }

  /** For work without a number. */
  public Worker(String member, long lane) {
    this(member, lane, 0);
  }
}
