package dev.evenkeel.protocol;

import static dev.evenkeel.protocol.Refusal.INVALID;

/**
 * How much one producer, user, topic or group may append, fetch or start in a time.
 *
 * @param name of the producer, user, topic or group; it need not exist yet
 * @param bytesPerSecond bytes of batches per second, up to {@link #BYTES_MAX}; 0: no limit
 * @param messages number of messages per period, up to {@link #MESSAGES_MAX}; 0: no limit
 * @param periodMillis the period of {@code messages} in milliseconds, 1 to {@link
 *     #PERIOD_MILLIS_MAX}
 */
public record Quota(
    QuotaKind kind, String name, long bytesPerSecond, long messages, long periodMillis) {
  /** Most bytes per second: 1 TiB. */
  public static final long BYTES_MAX = 1L << 40;

  /** Most messages per period: 1,000,000,000. */
  public static final long MESSAGES_MAX = 1_000_000_000;

  /** Longest period in milliseconds: a day. */
  public static final long PERIOD_MILLIS_MAX = 86_400_000;

  /** Most quotas of a cluster. */
  public static final int QUOTAS_MAX = 10_000;

  private static final long SECOND_MILLIS = 1_000;

  /** What has a quota. */
  public record Key(QuotaKind kind, String name) {
    @Override
    public String toString() {
      return kind.word() + " '" + name + "'";
    }
  }

  public static Quota perSecond(QuotaKind kind, String name, long bytes, long messages) {
    return new Quota(kind, name, bytes, messages, SECOND_MILLIS);
  }

  /** Stands for the removal of a quota. */
  public static Quota none(QuotaKind kind, String name) {
    return perSecond(kind, name, 0, 0);
  }

  public Key key() {
    return new Key(kind, name);
  }

  /** Whether it limits nothing. */
  public boolean isNone() {
    return bytesPerSecond == 0 && messages == 0;
  }

  /**
   * @throws RefusedException INVALID, saying what would be right
   */
  public Quota check() {
    Names.check(kind == QuotaKind.GROUP_RATE ? "group" : kind.word(), name);
    range("bytes per second", bytesPerSecond, 0, BYTES_MAX);
    range("messages", messages, 0, MESSAGES_MAX);
    range("milliseconds of the period", periodMillis, 1, PERIOD_MILLIS_MAX);
    if (kind == QuotaKind.GROUP_RATE && bytesPerSecond > 0) {
      throw INVALID.error(
          "a group-rate of bytes: it counts messages that start; limit bytes with kind group");
    }
    return this;
  }

  /** What it allows, for people, such as {@code 1000000 bytes/s, 30 messages/m}. */
  public String limits() {
    StringBuilder text = new StringBuilder();
    if (bytesPerSecond > 0) {
      text.append(bytesPerSecond).append(bytesPerSecond == 1 ? " byte/s" : " bytes/s");
    }
    if (messages > 0) {
      String period = Durations.format(periodMillis);
      text.append(text.isEmpty() ? "" : ", ").append(messages);
      text.append(messages == 1 ? " message/" : " messages/");
      text.append(period.matches("1\\D+") ? period.substring(1) : period);
    }
    return text.toString();
  }

  private static void range(String what, long value, long min, long max) {
    if (value < min || value > max) {
      throw INVALID.error("a quota of %s %s: use %s to %s", value, what, min, max);
    }
  }

  /** How long the limit of bytes takes for so many, in nanoseconds, rounded up; 0: no limit. */
  public long bytesNanos(long bytes) {
    return bytesPerSecond == 0 ? 0 : nanos(bytes, 1e9 / bytesPerSecond);
  }

  /** How long the limit of messages takes for so many, in nanoseconds, rounded up; 0: no limit. */
  public long messagesNanos(long count) {
    return messages == 0 ? 0 : nanos(count, periodMillis * 1e6 / messages);
  }

  private static long nanos(long count, double nanosEach) {
    return (long) Math.ceil(count * nanosEach);
  }

  /** Bytes of that time, at least 1; {@link Long#MAX_VALUE}: no limit. */
  public long bytesIn(long nanos) {
    return bytesPerSecond == 0
        ? Long.MAX_VALUE
        : Math.max(1, (long) (nanos / 1e9 * bytesPerSecond));
  }

  /** Messages of that time, at least 1; {@link Long#MAX_VALUE}: no limit. */
  public long messagesIn(long nanos) {
    return messages == 0
        ? Long.MAX_VALUE
        : Math.max(1, (long) (nanos / (periodMillis * 1e6) * messages));
  }
}
