package dev.evenkeel.client;

import dev.evenkeel.protocol.Durations;
import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.RefusedException;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A number of messages per period. As text it is {@code 100/s}, {@code 30/m}, {@code 1/10s} or
 * {@code 1/10ms}; the units are ms, s, m, h and d. After a quiet time all messages of a period may
 * begin at once: in any time t at most permits × (1 + t / period) messages begin.
 *
 * <p>The constructor fails with {@link RefusedException} INVALID for values out of their bounds.
 *
 * @param permits number of messages, 1 to {@link #PERMITS_MAX}
 * @param periodMillis the period in milliseconds, 1 to {@link #PERIOD_MILLIS_MAX}
 */
public record Rate(int permits, long periodMillis) {
  /** Most messages per period: 1,000,000. */
  public static final int PERMITS_MAX = 1_000_000;

  /** Longest period in milliseconds: a day. */
  public static final long PERIOD_MILLIS_MAX = 86_400_000;

  private static final Pattern FORM = Pattern.compile("(\\d{1,9})/(\\d*)(ms|s|m|h|d)");

  public Rate {
    if (permits < 1 || permits > PERMITS_MAX) {
      throw new RefusedException(
          Refusal.INVALID, "a rate of " + permits + ": it must be 1 to " + PERMITS_MAX);
    }
    if (periodMillis < 1 || periodMillis > PERIOD_MILLIS_MAX) {
      throw new RefusedException(
          Refusal.INVALID, "a rate over " + periodMillis + " ms: it must be 1 ms to 1 d");
    }
  }

  /**
   * Reads a rate from text, for example {@code 100/s}.
   *
   * @throws RefusedException INVALID for a text of another form or values out of their bounds
   */
  public static Rate parse(String text) {
    Matcher form = FORM.matcher(text.trim());
    if (!form.matches()) {
      throw new RefusedException(
          Refusal.INVALID, "bad rate '" + text + "': write 100/s, 30/m or 1/10s");
    }
    String count = form.group(2).isEmpty() ? "1" : form.group(2);
    if (count.length() > 9) {
      throw new RefusedException(Refusal.INVALID, "bad rate '" + text + "': at most a day");
    }
    return new Rate(Integer.parseInt(form.group(1)), Durations.parseMillis(count + form.group(3)));
  }

  @Override
  public String toString() {
    return permits + "/" + Durations.format(periodMillis);
  }
}
