package dev.evenkeel.client.internal.spool.log;

import dev.evenkeel.client.ProducerOptions.SpoolFsync;

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

  private static final long SEGMENT_BYTES_MAX = 64L << 20;
  private static final int SEGMENTS_MIN = 8;

  /** A segment that has become as large is followed by another. */
  public long segmentBytes() {
    return Math.min(SEGMENT_BYTES_MAX, limitBytes / SEGMENTS_MIN);
  }
}
