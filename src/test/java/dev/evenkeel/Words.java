package dev.evenkeel;

import java.util.Arrays;
import java.util.Iterator;
import java.util.stream.Stream;

/** The words of a command line. */
public final class Words {
  private Words() {}

  /**
   * The words of a line, which white space separates. The next value takes the place of each {@code
   * %s}, of which a word has one at the most; spaces in a value separate nothing.
   */
  public static String[] words(String line, Object... values) {
    Iterator<Object> next = Arrays.asList(values).iterator();
    return Stream.of(line.strip().split("\\s+"))
        .map(word -> word.contains("%s") ? word.replace("%s", next.next().toString()) : word)
        .toArray(String[]::new);
  }
}
