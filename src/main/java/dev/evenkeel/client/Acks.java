package dev.evenkeel.client;

import dev.evenkeel.protocol.RefusedException;

/**
 * When a sent message counts as acknowledged. The log does the same for each: it commits on a
 * majority, with fsync. What differs is for how much of that the sender waits.
 */
public enum Acks {
  /** Its batch has been sent: what becomes of it is counted, and told at the end. */
  NONE,
  /** It is committed by a majority of the shard's replicas, and on their disks. */
  MAJORITY,
  /** It is committed, and on the disk of every replica of the shard. */
  ALL;

  /**
   * Reads it as {@link #text} writes it, in small or large letters.
   *
   * @throws RefusedException INVALID, with the words that are right
   */
  public static Acks of(String text) {
    return OptionValues.constantOf(Acks.class, "acks", text);
  }

  /** As it is written in settings. */
  public String text() {
    return OptionValues.word(this);
  }
}
