package dev.evenkeel.cli;

import java.util.Locale;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Names in messages of the library the flags of the command line: where an application sets {@code
 * ProducerOptions.setSpoolResend}, a command takes {@code --spool-resend}.
 */
final class Flags {
  private static final Pattern SETTER =
      Pattern.compile("\\b(?:Client|Consumer|Producer)Options\\.set(\\w+)");

  /** Flags that have another name than the option. */
  private static final Map<String, String> OTHERS = Map.of("Seeds", "--cluster HOST:PORT");

  private Flags() {}

  static String named(String message) {
    Matcher setters = SETTER.matcher(message);
    return setters.replaceAll(each -> Matcher.quoteReplacement(flag(each.group(1))));
  }

  private static String flag(String option) {
    String other = OTHERS.get(option);
    return other != null
        ? other
        : "-" + option.replaceAll("([A-Z])", "-$1").toLowerCase(Locale.ROOT);
  }
}
