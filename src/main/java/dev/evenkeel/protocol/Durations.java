package dev.evenkeel.protocol;

import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Durations as users write them: {@code 200ms}, {@code 5s}, {@code 2m}, {@code 1h}, {@code 7d}. */
public final class Durations {
  private static final Pattern FORM = Pattern.compile("(\\d{1,12})(ms|s|m|h|d)");

  private Durations() {}

  /**
   * Milliseconds of {@code text}.
   *
   * @throws RefusedException {@link Refusal#INVALID} with the forms that are right
   */
  public static long parseMillis(String text) {
    Matcher form = FORM.matcher(text.trim());
    if (!form.matches()) {
      throw new RefusedException(
          Refusal.INVALID, "bad duration '" + text + "': write 200ms, 5s, 2m, 1h or 7d");
    }
    long unit =
        switch (form.group(2)) {
          case "ms" -> 1L;
          case "s" -> 1000L;
          case "m" -> 60_000L;
          case "h" -> 3_600_000L;
          default -> 86_400_000L;
        };
    return Math.multiplyExact(Long.parseLong(form.group(1)), unit);
  }

  /** The shortest exact form of {@code millis}. */
  public static String format(long millis) {
    if (millis != 0) {
      if (millis % 86_400_000L == 0) {
        return millis / 86_400_000L + "d";
      }
      if (millis % 3_600_000L == 0) {
        return millis / 3_600_000L + "h";
      }
      if (millis % 60_000L == 0) {
        return millis / 60_000L + "m";
      }
      if (millis % 1000L == 0) {
        return millis / 1000L + "s";
      }
    }
    return millis + "ms";
  }
}
