package dev.evenkeel.settings;

import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Parses and formats sizes as people write them: {@code 4096}, {@code 64KiB}, {@code 512MiB},
 * {@code 1GiB}.
 */
public final class ByteSizes {
  private static final Pattern FORM =
      Pattern.compile("(\\d{1,15})\\s*(|b|kib|mib|gib|tib)", Pattern.CASE_INSENSITIVE);

  private ByteSizes() {}

  /**
   * @throws IllegalArgumentException with examples of the right form
   */
  public static long parse(String text) {
    Matcher form = FORM.matcher(text.trim());
    if (!form.matches()) {
      throw new IllegalArgumentException("write 4096, 64KiB, 512MiB or 1GiB");
    }
    int shift =
        switch (form.group(2).toLowerCase(Locale.ROOT)) {
          case "kib" -> 10;
          case "mib" -> 20;
          case "gib" -> 30;
          case "tib" -> 40;
          default -> 0;
        };
    long number = Long.parseLong(form.group(1));
    if (number > Long.MAX_VALUE >> shift) {
      throw new IllegalArgumentException("it is too large");
    }
    return number << shift;
  }

  /** The shortest form that is exact. */
  public static String format(long bytes) {
    String[] units = {"", "KiB", "MiB", "GiB", "TiB"};
    int unit = 0;
    long rest = bytes;
    while (rest != 0 && rest % 1024 == 0 && unit < units.length - 1) {
      rest /= 1024;
      unit++;
    }
    return rest + units[unit];
  }
}
