package dev.evenkeel.protocol;

import org.jspecify.annotations.Nullable;

/**
 * Patterns of topic names. In a pattern, {@code *} stands for any number of characters: {@code
 * orders.*} takes in {@code orders.eu} as soon as there is such a topic.
 */
public final class TopicPattern {
  private static final char ANY = '*';

  private TopicPattern() {}

  /** Whether it is a pattern, and no name. */
  public static boolean is(String entry) {
    return entry.indexOf(ANY) >= 0;
  }

  /**
   * Checks an entry of a subscription.
   *
   * @throws RefusedException INVALID for what is neither a name nor a pattern
   */
  public static void check(@Nullable String entry) {
    if (entry != null && is(entry)) {
      String name = entry.replace(String.valueOf(ANY), "");
      Names.check("topic", "x" + name);
    } else {
      Names.check("topic", entry);
    }
  }

  /** Whether a topic fits a pattern. Takes time in proportion to the product of their lengths. */
  public static boolean matches(String pattern, String topic) {
    int at = 0;
    int from = 0;
    int star = -1;
    int mark = 0;
    while (at < topic.length()) {
      if (from < pattern.length() && pattern.charAt(from) == ANY) {
        star = from++;
        mark = at;
      } else if (from < pattern.length() && pattern.charAt(from) == topic.charAt(at)) {
        from++;
        at++;
      } else if (star >= 0) {
        from = star + 1;
        at = ++mark;
      } else {
        return false;
      }
    }
    while (from < pattern.length() && pattern.charAt(from) == ANY) {
      from++;
    }
    return from == pattern.length();
  }
}
