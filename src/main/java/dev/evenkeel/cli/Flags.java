package dev.evenkeel.cli;

import dev.evenkeel.protocol.Durations;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Replaces names of library options in messages by the flags of the command line, for example
 * {@code ProducerOptions.setSpoolResend} by {@code --spool-resend}.
 */
final class Flags {
  private static final Pattern SETTER =
      Pattern.compile("\\b(?:Client|Consumer|Producer)Options\\.set(\\w+)");

  /** Flags whose name differs from that of the option. */
  private static final Map<String, String> OTHERS =
      Map.of(
          "Seeds", "--cluster HOST:PORT",
          "Ca", "--ca FILE",
          "Certificate", "--cert FILE",
          "Key", "--cert-key FILE");

  /** {@code stallTimeoutMillis is 200: at least 1000 is needed}. */
  private static final Pattern BOUND =
      Pattern.compile("^(\\w+)Millis is (\\d+): at (least|most) (\\d+)");

  private static final Pattern CONSTANT = Pattern.compile("\\b[A-Z]{3,}(_[A-Z]+)*\\b");

  /** Patterns of option names in refusals of the library, and what replaces them. */
  private static final Map<String, String> OPTIONS = new LinkedHashMap<>();

  static {
    OPTIONS.put("^(?:a )?range of (\\d+)", "--range $1");
    OPTIONS.put("^an? (strategy|assignor)\\b", "--$1");
    OPTIONS.put("^delivery\\b", "--delivery");
    OPTIONS.put("^rates\\b", "--rate and --key-rate");
    OPTIONS.put("^offsets in a directory are", "--offsets and --on-damaged-offsets are");
    OPTIONS.put("a directory of its own for its offsets", "--offsets DIR, where it keeps them");
    OPTIONS.put("\\b(mode|order) (?=[a-z])", "--$1 ");
    OPTIONS.put("(?<!-)\\bdedup\\b", "--dedup");
    OPTIONS.put("\\bretryDelays(Millis)?\\b", "--retry-delays");
    OPTIONS.put("\\bonFailure\\b", "--on-failure");
    OPTIONS.put("\\brateBy\\b", "--rate-by");
    OPTIONS.put("\\boverRate\\b", "--over-rate");
    OPTIONS.put("\\bkeyRate\\b", "--key-rate");
    OPTIONS.put("\\b(stall|dedup|stuck)TimeoutMillis\\b", "--$1-timeout");
    OPTIONS.put("\\bcrashLockTimeMillis\\b", "--crash-lock-time");
    OPTIONS.put("\\bcrashesMax\\b", "--crashes-max");
    OPTIONS.put("\\bgraceMillis\\b", "--stable");
    OPTIONS.put("a name of the member", "--member NAME");
  }

  private Flags() {}

  /** Replaces setters in a message. */
  static String named(String message) {
    Matcher setters = SETTER.matcher(message);
    return setters.replaceAll(each -> Matcher.quoteReplacement(flag(each.group(1))));
  }

  /** Replaces options in a refusal. */
  static String ofRefused(String message) {
    String text = BOUND.matcher(message).replaceFirst(Flags::bound);
    text = CONSTANT.matcher(text).replaceAll(each -> word(each.group()));
    for (Map.Entry<String, String> each : OPTIONS.entrySet()) {
      text = text.replaceAll(each.getKey(), each.getValue());
    }
    return text;
  }

  private static String bound(MatchResult found) {
    return "%sMillis is %s: at %s %s"
        .formatted(
            found.group(1),
            Durations.format(Long.parseLong(found.group(2))),
            found.group(3),
            Durations.format(Long.parseLong(found.group(4))));
  }

  private static String word(String constant) {
    return constant.toLowerCase(Locale.ROOT).replace('_', '-');
  }

  private static String flag(String option) {
    String other = OTHERS.get(option);
    return other != null
        ? other
        : "-" + option.replaceAll("([A-Z])", "-$1").toLowerCase(Locale.ROOT);
  }
}
