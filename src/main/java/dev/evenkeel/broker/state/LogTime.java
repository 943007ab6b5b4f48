package dev.evenkeel.broker.state;

import dev.evenkeel.protocol.wire.ByteReader;
import dev.evenkeel.protocol.wire.Bytes;

/**
 * The time of a log group. It follows the clocks of the leaders that write entries, but by no more
 * than {@link #STEP_MILLIS_MAX} from one entry to the next, and never goes back. A leader writes an
 * entry each minute at least. So this time stands still while nobody leads, and no clock, however
 * wrong, can move it by more than a step when it jumps or when another leads.
 *
 * <p>Ages are measured in this time: those of messages, of marks, of silent producers, and of
 * retries that wait. It begins at the clock of the group's first entry, but is not to be compared
 * with a clock.
 *
 * @param millis the time that has passed, added to the first entry's clock
 * @param clockMillis the clock of the last entry's leader, in milliseconds since 1970: for people,
 *     and for what is due by the clock
 */
public record LogTime(long millis, long clockMillis) {
  /** Longest step from one entry to the next: a minute, and the longest delay of the next entry. */
  public static final long STEP_MILLIS_MAX = 120_000;

  /** The time of an entry whose leader's clock says {@code nowMillis}. */
  public LogTime at(long nowMillis) {
    boolean back = nowMillis <= clockMillis;
    long step = back ? 0 : nowMillis - clockMillis;
    // Negative: it is more than a long can say.
    boolean far = step < 0 || step > STEP_MILLIS_MAX;
    return new LogTime(millis + (far ? STEP_MILLIS_MAX : step), nowMillis);
  }

  /**
   * Whether this time stands still by a clock that says {@code nowMillis}: it is behind that of the
   * last entry's leader. The next entry ends that.
   */
  public boolean standsStill(long nowMillis) {
    return nowMillis < clockMillis;
  }

  /** The time of a group's first entry. */
  public static LogTime first(long nowMillis) {
    return new LogTime(nowMillis, nowMillis);
  }

  byte[] encode() {
    return new Bytes(16).i64(millis).i64(clockMillis).toArray();
  }

  static LogTime decode(byte[] bytes) {
    ByteReader in = new ByteReader(bytes);
    return new LogTime(in.i64(), in.i64());
  }
}
