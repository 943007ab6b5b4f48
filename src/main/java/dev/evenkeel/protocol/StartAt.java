package dev.evenkeel.protocol;

import static dev.evenkeel.protocol.Refusal.INVALID;

import java.time.DateTimeException;
import java.time.OffsetDateTime;

/**
 * A place in shards: where a new group begins, or where a reset puts a group.
 *
 * @param kind how to find the offset
 * @param value milliseconds since 1970 for {@link Kind#TIMESTAMP}, an offset for {@link
 *     Kind#OFFSET}, else 0
 */
public record StartAt(Kind kind, long value) {
  /** How to find the offset. */
  public enum Kind {
    /** The first message that is kept. */
    EARLIEST,
    /** The end: only messages that come from now on. */
    LATEST,
    /** The first message whose timestamp is at or after the value. */
    TIMESTAMP,
    /** The offset that the value is. */
    OFFSET
  }

  /** At the first message that is kept. */
  public static final StartAt EARLIEST = new StartAt(Kind.EARLIEST, 0);

  /** At the end. */
  public static final StartAt LATEST = new StartAt(Kind.LATEST, 0);

  /** At the first message whose timestamp is at or after this time, in milliseconds since 1970. */
  public static StartAt timestamp(long epochMillis) {
    return new StartAt(Kind.TIMESTAMP, epochMillis);
  }

  /** 1973 in seconds. */
  private static final long SECONDS_MIN = 100_000_000;

  /** 1973 in milliseconds. */
  private static final long SECONDS_MAX = 100_000_000_000L;

  /** At this offset. */
  public static StartAt offset(long offset) {
    return new StartAt(Kind.OFFSET, offset);
  }

  /**
   * A place as people write it: {@code earliest}, {@code latest}, an offset, or a time like {@code
   * 2026-01-31T12:00:00Z}, of UTC if it names no other.
   *
   * @throws RefusedException INVALID, saying what would be right
   */
  public static StartAt parse(String text) {
    switch (text) {
      case "earliest" -> {
        return EARLIEST;
      }
      case "latest" -> {
        return LATEST;
      }
      default -> {
        // An offset or a time.
      }
    }
    if (text.matches("\\d{1,18}")) {
      return offset(Long.parseLong(text));
    }
    try {
      return time(text);
    } catch (DateTimeException | ArithmeticException e) {
      throw INVALID.error(
          "'%s' is not a position: write earliest, latest, an offset like 12345, or a time "
              + "like 2026-01-31T12:00:00Z",
          text);
    }
  }

  /**
   * A place in time as people write it: {@code earliest}, {@code latest}, milliseconds since 1970,
   * a day like {@code 2026-01-31}, or a time as in {@link #parse}.
   *
   * @throws RefusedException INVALID, saying what would be right
   */
  public static StartAt parseTime(String text) {
    if (text.equals("earliest") || text.equals("latest")) {
      return parse(text);
    }
    try {
      if (text.matches("\\d{1,18}")) {
        return timestamp(checkedMillis(Long.parseLong(text)));
      }
      return time(text.matches("\\d{4}-\\d{2}-\\d{2}") ? text + "T00:00:00Z" : text);
    } catch (DateTimeException | ArithmeticException e) {
      throw INVALID.error(
          "write earliest, latest, milliseconds since 1970, or 2026-01-31T12:00:00Z");
    }
  }

  /**
   * A time in milliseconds since 1970 that somebody has given as a number.
   *
   * @throws RefusedException INVALID for what is surely seconds: as milliseconds it would be in the
   *     first years after 1970, when there were no messages
   */
  public static long checkedMillis(long millis) {
    if (millis >= SECONDS_MIN && millis < SECONDS_MAX) {
      throw INVALID.error(
          "%s looks like seconds since 1970, and times are milliseconds: write %s000",
          millis, millis);
    }
    return millis;
  }

  private static StartAt time(String text) {
    boolean zoned = text.matches(".*T.*([zZ]|[+-]\\d{2}(:?\\d{2})?)");
    long millis = OffsetDateTime.parse(zoned ? text : text + "Z").toInstant().toEpochMilli();
    return timestamp(Math.max(0, millis));
  }
}
