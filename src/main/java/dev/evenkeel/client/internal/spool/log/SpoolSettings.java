package dev.evenkeel.client.internal.spool.log;

import dev.evenkeel.client.ProducerOptions.SpoolFsync;
import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.RefusedException;

/**
 * How a spool keeps messages.
 *
 * @param limitBytes of all segments together; past it nothing is accepted
 * @param flushMillis longest time that an accepted message is in memory only
 * @param flushMessages so many in memory are written at once
 * @param flushBytes so many, too
 * @param fsync when the operating system is made to write to the disk
 * @param fsyncMillis how often, if that is {@link SpoolFsync#INTERVAL}
 */
public record SpoolSettings(
    long limitBytes,
    long flushMillis,
    int flushMessages,
    long flushBytes,
    SpoolFsync fsync,
    long fsyncMillis) {

  /** Room for a few segments that each hold the largest frame. */
  public static final long LIMIT_BYTES_MIN = 32L << 20;

  private static final long SEGMENT_BYTES_MAX = 64L << 20;
  private static final int SEGMENTS_MIN = 8;

  public SpoolSettings {
    check("spoolLimitBytes", limitBytes, LIMIT_BYTES_MIN, Long.MAX_VALUE / 4);
    check("spoolFlushMillis", flushMillis, 1, 60_000);
    check("spoolFlushMessages", flushMessages, 1, 1_000_000);
    check("spoolFlushBytes", flushBytes, 1, SpoolIntake.BYTES_MAX);
    check("spoolFsyncMillis", fsyncMillis, 1, 3_600_000);
  }

  /** A segment that has become as large is followed by another. */
  public long segmentBytes() {
    return Math.min(SEGMENT_BYTES_MAX, limitBytes / SEGMENTS_MIN);
  }

  private static void check(String name, long value, long min, long max) {
    if (value < min || value > max) {
      throw new RefusedException(
          Refusal.INVALID, "bad " + name + " " + value + ": use " + min + " to " + max);
    }
  }
}
