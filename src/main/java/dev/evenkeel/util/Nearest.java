package dev.evenkeel.util;

import java.util.Collection;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/** Suggests the known name that is nearest to a misspelled one, by Damerau-Levenshtein distance. */
public final class Nearest {
  private Nearest() {}

  /** The candidate nearest to {@code text}; null if none is near enough for a misspelling. */
  public static @Nullable String to(String text, Collection<String> candidates) {
    String best = null;
    int bestDistance = Integer.MAX_VALUE;
    for (String candidate : candidates) {
      int distance = distance(text.toLowerCase(Locale.ROOT), candidate.toLowerCase(Locale.ROOT));
      if (distance < bestDistance) {
        best = candidate;
        bestDistance = distance;
      }
    }
    int allowed = Math.max(2, text.length() / 3);
    return bestDistance <= allowed ? best : null;
  }

  /** {@code ": did you mean 'x'?"}, or an empty text. */
  public static String hint(String text, Collection<String> candidates) {
    String nearest = to(text, candidates);
    return nearest == null ? "" : ": did you mean '" + nearest + "'?";
  }

  /** The message about an unknown name: suggests the nearest known name, else lists all of them. */
  public static String unknown(String kind, String name, Collection<String> known) {
    String hint = hint(name, known);
    String all = known.isEmpty() ? "" : ": known are " + String.join(", ", known);
    return "unknown " + kind + " '" + name + "'" + (hint.isEmpty() ? all : hint);
  }

  /** Insertions, deletions, replacements and swaps of neighbours (optimal string alignment). */
  public static int distance(String a, String b) {
    int[] beforeLast = new int[b.length() + 1];
    int[] last = new int[b.length() + 1];
    for (int j = 0; j <= b.length(); j++) {
      last[j] = j;
    }
    for (int i = 1; i <= a.length(); i++) {
      int[] row = new int[b.length() + 1];
      row[0] = i;
      for (int j = 1; j <= b.length(); j++) {
        int replace = last[j - 1] + (a.charAt(i - 1) == b.charAt(j - 1) ? 0 : 1);
        row[j] = Math.min(replace, Math.min(last[j], row[j - 1]) + 1);
        if (i > 1
            && j > 1
            && a.charAt(i - 1) == b.charAt(j - 2)
            && a.charAt(i - 2) == b.charAt(j - 1)) {
          row[j] = Math.min(row[j], beforeLast[j - 2] + 1);
        }
      }
      beforeLast = last;
      last = row;
    }
    return last[b.length()];
  }
}
