package dev.evenkeel.cli;

import dev.evenkeel.protocol.Durations;
import dev.evenkeel.protocol.RefusedException;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Objects;

/**
 * One setting of a node.
 *
 * @param name as in the file and, with {@code --} before it, on the command line; in the
 *     environment {@code EVENKEEL_} and the name in capitals with underscores
 * @param defaultText the default as a user would write it; empty: none
 * @param min smallest number, in the unit of the type (bytes, milliseconds)
 * @param help one sentence
 */
record ConfigKey(String name, Type type, String defaultText, long min, long max, String help) {

  /** What a value may look like. */
  enum Type {
    TEXT("text"),
    NUMBER("a whole number"),
    BYTES("a size such as 64KiB, 512MiB or 1GiB"),
    DURATION("a duration such as 200ms, 5s, 2m or 1h"),
    /** Texts with commas between them; in the file also a list. */
    LIST("a list with commas");

    final String right;

    Type(String right) {
      this.right = right;
    }
  }

  static ConfigKey text(String name, String defaultText, String help) {
    return new ConfigKey(name, Type.TEXT, defaultText, 0, 0, help);
  }

  static ConfigKey list(String name, String defaultText, String help) {
    return new ConfigKey(name, Type.LIST, defaultText, 0, 0, help);
  }

  static ConfigKey number(String name, long defaultValue, long min, long max, String help) {
    return new ConfigKey(name, Type.NUMBER, Long.toString(defaultValue), min, max, help);
  }

  static ConfigKey bytes(String name, String defaultText, String min, String max, String help) {
    return new ConfigKey(
        name, Type.BYTES, defaultText, ByteSizes.parse(min), ByteSizes.parse(max), help);
  }

  static ConfigKey duration(String name, String defaultText, String min, String max, String help) {
    return new ConfigKey(
        name,
        Type.DURATION,
        defaultText,
        Durations.parseMillis(min),
        Durations.parseMillis(max),
        help);
  }

  String environmentName() {
    return "EVENKEEL_" + name.toUpperCase(Locale.ROOT).replace('-', '_');
  }

  /** What is allowed, for people. */
  String bounds() {
    return switch (type) {
      case NUMBER -> "from " + min + " to " + max;
      case BYTES -> "from " + ByteSizes.format(min) + " to " + ByteSizes.format(max);
      case DURATION -> "from " + Durations.format(min) + " to " + Durations.format(max);
      case TEXT, LIST -> "";
    };
  }

  /**
   * The value of {@code raw}: String, Long, or List of String.
   *
   * @param raw a text, or what YAML made of it
   * @param source where it was written, for the error
   * @throws CommandFailure wrong usage, naming source, key, value and what would be right
   */
  Object parse(Object raw, String source) {
    if (raw instanceof List<?> many && type == Type.LIST) {
      return many.stream().map(String::valueOf).map(String::trim).toList();
    }
    if (raw == null || raw instanceof List<?>) {
      throw wrong(raw, source, "it must be " + type.right);
    }
    String text = String.valueOf(raw).trim();
    try {
      return switch (type) {
        case TEXT -> text;
        case LIST ->
            Arrays.stream(text.split(",")).map(String::trim).filter(s -> !s.isEmpty()).toList();
        case NUMBER -> bounded(Long.parseLong(text), raw, source);
        case BYTES -> bounded(ByteSizes.parse(text), raw, source);
        case DURATION -> bounded(Durations.parseMillis(text), raw, source);
      };
    } catch (IllegalArgumentException | RefusedException | ArithmeticException e) {
      throw wrong(raw, source, "it must be " + type.right + " " + bounds());
    }
  }

  Object defaultValue() {
    return defaultText.isEmpty()
        ? type == Type.LIST ? List.of() : null
        : Objects.requireNonNull(parse(defaultText, "default"));
  }

  private long bounded(long value, Object raw, String source) {
    if (value < min || value > max) {
      throw wrong(raw, source, "it must be " + bounds());
    }
    return value;
  }

  private CommandFailure wrong(Object raw, String source, String right) {
    return CommandFailure.usage(source + ": " + name + " is '" + raw + "': " + right.trim());
  }
}
