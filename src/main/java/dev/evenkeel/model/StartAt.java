package dev.evenkeel.model;

/**
 * Where a group begins in a shard that it has no lease for yet.
 *
 * @param kind how to find the offset
 * @param value milliseconds since 1970 for {@link Kind#TIMESTAMP}, an offset for {@link
 *     Kind#OFFSET}, else 0
 */
public record StartAt(Kind kind, long value) {
  public enum Kind {
    EARLIEST,
    LATEST,
    /** The first message whose timestamp is at or after the value. */
    TIMESTAMP,
    OFFSET
  }

  public static final StartAt EARLIEST = new StartAt(Kind.EARLIEST, 0);
  public static final StartAt LATEST = new StartAt(Kind.LATEST, 0);

  public static StartAt timestamp(long epochMillis) {
    return new StartAt(Kind.TIMESTAMP, epochMillis);
  }

  public static StartAt offset(long offset) {
    return new StartAt(Kind.OFFSET, offset);
  }
}
