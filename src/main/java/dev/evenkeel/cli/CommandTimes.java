package dev.evenkeel.cli;

import dev.evenkeel.protocol.Durations;
import dev.evenkeel.protocol.RefusedException;

/** Times on the command line. */
final class CommandTimes {
  private CommandTimes() {}

  /**
   * @param min milliseconds, as {@code max}; both are allowed
   * @throws CommandFailure wrong usage, saying what would be right
   */
  static long millis(String option, String text, long min, long max) {
    try {
      long millis = Durations.parseMillis(text);
      if (millis >= min && millis <= max) {
        return millis;
      }
    } catch (RefusedException | ArithmeticException e) {
      // The line below says what is right.
    }
    throw CommandFailure.usage(
        option
            + " '"
            + text
            + "': write a time from "
            + Durations.format(min)
            + " to "
            + Durations.format(max)
            + ", like 200ms, 5s, 2m or 1h");
  }
}
