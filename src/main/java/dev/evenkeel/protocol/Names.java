package dev.evenkeel.protocol;

import static dev.evenkeel.protocol.Refusal.INVALID;

import dev.evenkeel.util.Nearest;
import java.util.Collection;
import org.jspecify.annotations.Nullable;

/** What names of topics, groups, members, producers and nodes may look like. */
public final class Names {
  /** What the name of a dispatcher that holds a lease begins with; the node's follows. */
  public static final String DISPATCHER_HOLDER = "dispatcher@";

  /** Longest id of a member's run. */
  public static final int INSTANCE_CHARS_MAX = 4 * Limits.NAME_CHARS_MAX;

  private Names() {}

  /**
   * Returns {@code name} if it is 1 to {@link Limits#NAME_CHARS_MAX} of letters, digits, dot,
   * underscore and hyphen, and does not start with a dot or hyphen.
   *
   * @param kind what the name names, for the error: "topic", "group", ...
   * @throws RefusedException {@link Refusal#INVALID} otherwise, saying what would be right
   */
  public static String check(String kind, @Nullable String name) {
    if (name == null || name.isEmpty()) {
      throw INVALID.error(
          "%s %s needs a name", "aeiou".indexOf(kind.charAt(0)) < 0 ? "a" : "an", kind);
    }
    if (name.length() > Limits.NAME_CHARS_MAX) {
      throw INVALID.error(
          "%s name of %s characters: at most %s are allowed",
          kind, name.length(), Limits.NAME_CHARS_MAX);
    }
    for (int i = 0; i < name.length(); i++) {
      char c = name.charAt(i);
      boolean plain = c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9';
      if (!plain && c != '_' && !(i > 0 && (c == '.' || c == '-'))) {
        throw INVALID.error(
            "bad %s name '%s': use letters, digits, '_', and after the first character '.' "
                + "and '-'",
            kind, printable(name));
      }
    }
    return name;
  }

  /**
   * Returns {@code name} if it is that of a member, or {@link #DISPATCHER_HOLDER} and that of a
   * node. No member can be named like a dispatcher.
   *
   * @throws RefusedException {@link Refusal#INVALID} otherwise, saying what would be right
   */
  public static String checkHolder(@Nullable String name) {
    if (name != null && name.startsWith(DISPATCHER_HOLDER)) {
      check("node", name.substring(DISPATCHER_HOLDER.length()));
      return name;
    }
    return check("member", name);
  }

  /**
   * Returns the id of a member's run if it is 1 to {@link #INSTANCE_CHARS_MAX} letters.
   *
   * @param of what needs it, for the error
   * @throws RefusedException {@link Refusal#INVALID} otherwise
   */
  public static String checkInstance(String of, @Nullable String instance) {
    if (instance == null || instance.isEmpty() || instance.length() > INSTANCE_CHARS_MAX) {
      throw INVALID.error(of + " needs an instance of 1 to " + INSTANCE_CHARS_MAX + " letters");
    }
    return instance;
  }

  /** For messages: without control characters. */
  static String printable(String name) {
    StringBuilder out = new StringBuilder();
    name.codePoints().forEach(c -> out.appendCodePoint(Character.isISOControl(c) ? '?' : c));
    return out.toString();
  }

  /**
   * Refuses names that are not known, for example misspelled ones.
   *
   * @param kind of names, for the message
   * @throws RefusedException INVALID, naming the first that is not known, and the nearest to it
   */
  public static void requireKnown(String kind, Collection<String> names, Collection<String> known) {
    for (String name : names) {
      if (!known.contains(name)) {
        throw INVALID.error(Nearest.unknown(kind, name, known));
      }
    }
  }
}
