package dev.evenkeel.api;

import dev.evenkeel.protocol.Names;
import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.RefusedException;
import dev.evenkeel.util.Nearest;
import java.util.List;
import java.util.Locale;
import java.util.stream.Stream;

/**
 * One thing that a user may do, such as {@code produce:orders} or {@code view:shop-*}.
 *
 * @param pattern a name; with {@code *} at its end it stands for all names that begin so
 */
public record Permission(Kind kind, String pattern) {
  private static final String ANY = "*";

  /** What a permission allows. */
  public enum Kind {
    /** To send messages to a topic. */
    PRODUCE,
    /** To read the messages of a topic. */
    CONSUME,
    /** To be a member of a group, and to read its dead letters. */
    GROUP,
    /** To see a topic or a group: its shards, members and figures, but no messages. */
    VIEW,
    /** To create, change and delete a topic or a group. With {@code *}: the cluster, too. */
    ADMIN,
    /** To use a producer name. */
    PRODUCER;

    private static final List<String> WORDS = Stream.of(values()).map(Kind::word).toList();

    public String word() {
      return name().toLowerCase(Locale.ROOT);
    }
  }

  /**
   * Reads {@code KIND:NAME}.
   *
   * @throws RefusedException INVALID, saying what would be right
   */
  public static Permission parse(String text) {
    int colon = text.indexOf(':');
    if (colon < 0) {
      throw Refusal.INVALID.error(
          "the permission '%s' is no KIND:NAME: write such as %s:%s; the kinds are %s",
          text, Kind.WORDS.get(0), text.isEmpty() ? "NAME" : text, String.join(", ", Kind.WORDS));
    }
    String word = text.substring(0, colon);
    if (!Kind.WORDS.contains(word)) {
      throw Refusal.INVALID.error(
          "the permission '%s' begins with '%s', which is no kind%s Write KIND:NAME; the kinds are"
              + " %s",
          text, word, hint(word), String.join(", ", Kind.WORDS));
    }
    String pattern = text.substring(colon + 1);
    String name =
        pattern.endsWith(ANY) ? pattern.substring(0, pattern.length() - ANY.length()) : pattern;
    if (pattern.isEmpty()) {
      throw Refusal.INVALID.error(
          "the permission '%s' has no name: write %s:NAME, %s:PREFIX* or %s:*",
          text, word, word, word);
    }
    if (!name.isEmpty()) {
      Names.check("permission", name);
    }
    return new Permission(Kind.valueOf(word.toUpperCase(Locale.ROOT)), pattern);
  }

  private static String hint(String word) {
    String nearest = Nearest.hint(word, Kind.WORDS);
    return nearest.isEmpty() ? "." : nearest;
  }

  public boolean covers(String name) {
    return covers(pattern, name);
  }

  /** Whether a name is that of a pattern, or begins as one with {@code *} at its end. */
  public static boolean covers(String pattern, String name) {
    return pattern.endsWith(ANY)
        ? name.regionMatches(0, pattern, 0, pattern.length() - ANY.length())
        : name.equals(pattern);
  }

  /** In the form that {@link #parse} reads. */
  @Override
  public String toString() {
    return kind.word() + ":" + pattern;
  }
}
