package dev.evenkeel.protocol;

import java.util.function.Function;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * A part of a message that is said in one way to programs, and in another to people who use
 * commands, such as the name of a setting. {@link RefusedException} takes it as a value of its
 * format.
 */
public interface Told {
  String ofPrograms();

  String ofCommands();

  /** Two words for the same. */
  static Told as(String ofPrograms, String ofCommands) {
    return new Told() {
      @Override
      public String ofPrograms() {
        return ofPrograms;
      }

      @Override
      public String ofCommands() {
        return ofCommands;
      }
    };
  }

  /**
   * A text with such parts.
   *
   * @param format as {@link String#format} takes it; values may be such parts
   */
  static Told text(String format, @Nullable Object... values) {
    return as(said(format, values, Told::ofPrograms), said(format, values, Told::ofCommands));
  }

  private static String said(
      String format, @Nullable Object[] values, Function<Told, String> form) {
    return String.format(
        format,
        Stream.of(values)
            .map(value -> value instanceof Told told ? form.apply(told) : value)
            .toArray());
  }

  /** A setting with this key, whose option of commands has the same name. */
  static Told setting(String key) {
    return as(key, "--" + key);
  }
}
