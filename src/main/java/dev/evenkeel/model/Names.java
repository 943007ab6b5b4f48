package dev.evenkeel.model;

/** What names of topics, groups, members, producers and nodes may look like. */
public final class Names {
  private Names() {}

  /**
   * Returns {@code name} if it is 1 to {@link Limits#NAME_CHARS_MAX} of letters, digits, dot,
   * underscore and hyphen, and does not start with a dot or hyphen.
   *
   * @param kind what the name names, for the error: "topic", "group", ...
   * @throws RefusedException {@link Refusal#INVALID} otherwise, saying what would be right
   */
  public static String check(String kind, String name) {
    if (name == null || name.isEmpty()) {
      throw new RefusedException(Refusal.INVALID, "a " + kind + " needs a name");
    }
    if (name.length() > Limits.NAME_CHARS_MAX) {
      throw new RefusedException(
          Refusal.INVALID,
          kind
              + " name of "
              + name.length()
              + " characters: at most "
              + Limits.NAME_CHARS_MAX
              + " are allowed");
    }
    for (int i = 0; i < name.length(); i++) {
      char c = name.charAt(i);
      boolean plain = c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9';
      if (!plain && c != '_' && !(i > 0 && (c == '.' || c == '-'))) {
        throw new RefusedException(
            Refusal.INVALID,
            "bad "
                + kind
                + " name '"
                + printable(name)
                + "': use letters, digits, '_', and after the first character '.' and '-'");
      }
    }
    return name;
  }

  private static String printable(String name) {
    StringBuilder out = new StringBuilder();
    name.codePoints().forEach(c -> out.appendCodePoint(Character.isISOControl(c) ? '?' : c));
    return out.toString();
  }
}
