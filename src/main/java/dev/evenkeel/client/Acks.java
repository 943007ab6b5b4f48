package dev.evenkeel.client;

import dev.evenkeel.protocol.RefusedException;
import dev.evenkeel.settings.SettingType;

/**
 * When {@link Producer#send} completes. The log stores every message in the same way: a majority of
 * the shard's replicas commits it, with fsync. The values differ only in how much of that the
 * sender waits for.
 */
public enum Acks {
  /**
   * The message has been sent. Its future completes with offset -1. The producer still repeats the
   * message until the log answers; {@link Producer#failedMessages} counts those that fail.
   */
  NONE,
  /** The message is on the disks of a majority of the shard's replicas. This is the default. */
  MAJORITY,
  /**
   * The message is on the disk of every replica of the shard. If that is not known within {@link
   * ProducerOptions#setAcksTimeoutMillis}, it fails with REPLICAS_MISSING, although it is in the
   * log.
   */
  ALL;

  /**
   * Reads "none", "majority" or "all", in lower or upper case.
   *
   * @throws RefusedException INVALID for any other text; the message lists the right ones
   */
  public static Acks of(String text) {
    return SettingType.constantOf(Acks.class, "acks", text);
  }

  /** The name as it is written in settings: "none", "majority" or "all". */
  public String text() {
    return SettingType.word(this);
  }
}
