package dev.evenkeel.cli;

import dev.evenkeel.protocol.Durations;
import dev.evenkeel.protocol.Limits;
import dev.evenkeel.protocol.RefusedException;
import dev.evenkeel.protocol.StartAt;
import dev.evenkeel.settings.ByteSizes;
import java.util.function.Supplier;
import java.util.stream.Stream;
import picocli.CommandLine.ITypeConverter;

/**
 * Parses and checks values of options. {@link CommandErrors} puts the option and its value before
 * the message of a parser.
 */
public final class OptionFormats {
  private static final String TIMES = "200ms, 5s, 2m or 1h";

  private OptionFormats() {}

  /** Parses a time such as {@code 5s}; gives milliseconds. */
  public static final class Time implements ITypeConverter<Long> {
    @Override
    public Long convert(String text) {
      try {
        return Durations.parseMillis(text);
      } catch (RefusedException | ArithmeticException e) {
        throw CommandFailure.usage("write " + TIMES);
      }
    }
  }

  /** As {@link Time}, but the time must be above 0. */
  static long someTime(String text) {
    long millis = new Time().convert(text);
    if (millis == 0) {
      throw CommandFailure.usage("it must be above 0");
    }
    return millis;
  }

  /** Parses a size such as {@code 64KiB}; gives bytes. */
  public static final class Size implements ITypeConverter<Long> {
    @Override
    public Long convert(String text) {
      try {
        return ByteSizes.parse(text);
      } catch (IllegalArgumentException e) {
        throw CommandFailure.usage(e.getMessage());
      }
    }
  }

  /**
   * Parses {@code earliest}, {@code latest}, milliseconds since 1970, or a time of ISO-8601, which
   * is of UTC if it says no other.
   */
  static StartAt start(String option, String text) {
    return of(option + " '" + text + "'", () -> StartAt.parseTime(text));
  }

  /** Parses a constant in the form that users write: small letters and hyphens. */
  static <E extends Enum<E>> E constant(Class<E> type, String text) {
    return Stream.of(type.getEnumConstants())
        .filter(each -> each.name().equalsIgnoreCase(text.replace('-', '_')))
        .findFirst()
        .orElseThrow(() -> new IllegalArgumentException(text));
  }

  /**
   * Parses a whole number.
   *
   * @param max {@link Integer#MAX_VALUE} and above: any
   */
  static long wholeNumber(String text, long min, long max) {
    try {
      long number = Long.parseLong(text);
      if (number >= min && number <= max) {
        return number;
      }
    } catch (NumberFormatException e) {
      // As one that is out of bounds.
    }
    throw CommandFailure.usage(
        max < Integer.MAX_VALUE
            ? "write a whole number from " + min + " to " + max
            : "write a whole number of at least " + min);
  }

  /** Parses how many shards a topic has. */
  public static final class ShardCount implements ITypeConverter<Integer> {
    @Override
    public Integer convert(String text) {
      return (int) wholeNumber(text, 1, Limits.SHARDS_MAX);
    }
  }

  /** Parses the number of a shard. */
  public static final class ShardNumber implements ITypeConverter<Integer> {
    @Override
    public Integer convert(String text) {
      return (int) wholeNumber(text, 0, Integer.MAX_VALUE);
    }
  }

  /** Parses how much to show at most. */
  public static final class Limit implements ITypeConverter<Long> {
    @Override
    public Long convert(String text) {
      return wholeNumber(text, 1, Long.MAX_VALUE);
    }
  }

  /** Parses how many moves of shards to show at most. */
  public static final class MovesLimit implements ITypeConverter<Integer> {
    @Override
    public Integer convert(String text) {
      return (int) wholeNumber(text, 1, Limits.MOVES_KEPT_MAX);
    }
  }

  /** Parses the offset of a message. */
  public static final class Offset implements ITypeConverter<Long> {
    @Override
    public Long convert(String text) {
      return wholeNumber(text, 0, Long.MAX_VALUE);
    }
  }

  /**
   * @throws CommandFailure wrong usage, if the number is out of bounds
   */
  public static void range(String option, long value, long min, long max) {
    CommandFailure.refuseIf(
        value < min || value > max,
        option + " " + value + ": it must be from " + min + " to " + max);
  }

  /**
   * @param millis null: the option is not given
   * @throws CommandFailure wrong usage, if the time is out of bounds
   */
  public static void timeRange(String option, Long millis, long min, long max) {
    if (millis != null && (millis < min || millis > max)) {
      throw CommandFailure.usage(
          "%s '%s': write a time from %s to %s, like %s"
              .formatted(
                  option,
                  Durations.format(millis),
                  Durations.format(min),
                  Durations.format(max),
                  TIMES));
    }
  }

  /** Parses a number of messages a second, above 0. */
  static Double rate(String text, long max) {
    try {
      double perSecond = Double.parseDouble(text);
      if (perSecond > 0 && perSecond <= max) {
        return perSecond;
      }
    } catch (NumberFormatException e) {
      // As one that is out of bounds.
    }
    throw CommandFailure.usage("write a number above 0, and at most " + max);
  }

  /**
   * A value of the library.
   *
   * @param option names what has the value, for the message
   * @throws CommandFailure wrong usage, if the library refuses it
   */
  static <T> T of(String option, Supplier<T> value) {
    try {
      return value.get();
    } catch (RefusedException e) {
      throw CommandFailure.usage(option + ": " + e.getMessage());
    }
  }

  /**
   * Runs a check of the library.
   *
   * @throws CommandFailure wrong usage, if the check refuses the options
   */
  static void checked(Runnable check) {
    try {
      check.run();
    } catch (RefusedException e) {
      throw CommandFailure.usage(e.wordsOfCommands());
    }
  }
}
