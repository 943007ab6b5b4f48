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

  /** The key of the setting that it is about; null: of none. */
  default @Nullable String key() {
    return null;
  }

  /** Two words for the same. */
  static Told as(String ofPrograms, String ofCommands) {
    return as(ofPrograms, ofCommands, null);
  }

  /** Two words for the same, about the setting with this key. */
  static Told as(String ofPrograms, String ofCommands, @Nullable String key) {
    record Words(String ofPrograms, String ofCommands, @Nullable String key) implements Told {}

    return new Words(ofPrograms, ofCommands, key);
  }

  /**
   * A text with such parts. It is about the first setting of them.
   *
   * @param format as {@link String#format} takes it; values may be such parts
   */
  static Told text(String format, @Nullable Object... values) {
    return as(
        said(format, values, Told::ofPrograms),
        said(format, values, Told::ofCommands),
        Stream.of(values)
            .flatMap(
                value -> value instanceof Told told ? Stream.ofNullable(told.key()) : Stream.of())
            .findFirst()
            .orElse(null));
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
    return as(key, "--" + key, key);
  }
}
