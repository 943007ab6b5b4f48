package dev.evenkeel.protocol;

import static dev.evenkeel.protocol.Refusal.INVALID;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Durations as users write them: {@code 200ms}, {@code 5s}, {@code 2m}, {@code 1h}, {@code 7d}. */
public final class Durations {
  private static final Pattern FORM = Pattern.compile("(\\d{1,12})(ms|s|m|h|d)");

  /** Milliseconds of each unit, the longest first. */
  private static final Map<String, Long> UNITS = new LinkedHashMap<>();

  static {
    UNITS.put("d", 86_400_000L);
    UNITS.put("h", 3_600_000L);
    UNITS.put("m", 60_000L);
    UNITS.put("s", 1_000L);
    UNITS.put("ms", 1L);
  }

  private Durations() {}

  /**
   * Milliseconds of {@code text}.
   *
   * @throws RefusedException {@link Refusal#INVALID} with the forms that are right
   */
  public static long parseMillis(String text) {
    Matcher form = FORM.matcher(text.trim());
    if (!form.matches()) {
      throw INVALID.error("bad duration '" + text + "': write 200ms, 5s, 2m, 1h or 7d");
    }
    return Math.multiplyExact(
        Long.parseLong(form.group(1)), Objects.requireNonNull(UNITS.get(form.group(2))));
  }

  /** The shortest exact form of {@code millis}. */
  public static String format(long millis) {
    for (Map.Entry<String, Long> unit : UNITS.entrySet()) {
      if (millis != 0 && millis % unit.getValue() == 0) {
        return millis / unit.getValue() + unit.getKey();
      }
    }
    return millis + "ms";
  }
}
