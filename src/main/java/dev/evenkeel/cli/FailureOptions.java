package dev.evenkeel.cli;

import dev.evenkeel.client.ConsumerOptions;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import picocli.CommandLine.Option;

/** What becomes of messages that fail. */
final class FailureOptions {
  @Option(
      names = "--retry-delays",
      paramLabel = "TIME,...",
      description =
          "Pauses before the second and all further attempts of a message: with n of them it is"
              + " tried n + 1 times (default: 1s,5s,30s,2m,10m).")
  private String retryDelays;

  @Option(
      names = "--on-failure",
      paramLabel = "retry|dead-letter|stop",
      defaultValue = "retry",
      description =
          "retry: try again, then put it among the dead letters; dead-letter, stop: do that, or"
              + " leave with status 1, at once or after the retries asked for (default:"
              + " ${DEFAULT-VALUE}).")
  private String onFailure;

  /**
   * @throws CommandFailure wrong usage, saying what would be right
   */
  void apply(ConsumerOptions options, ModeOptions mode) {
    mode.notLevel("--on-failure stop", onFailure.equals("stop") ? onFailure : null);
    if (mode.isBroadcast() && onFailure.equals("dead-letter")) {
      throw CommandFailure.usage(
          "--on-failure dead-letter: in --mode broadcast there are no dead letters; use retry,"
              + " which passes over what fails in the end, or stop");
    }
    switch (onFailure) {
      case "retry", "dead-letter", "stop" ->
          options.setOnFailure(
              ConsumerOptions.OnFailure.valueOf(
                  onFailure.toUpperCase(Locale.ROOT).replace('-', '_')));
      default ->
          throw CommandFailure.usage(
              "--on-failure " + onFailure + ": use retry, dead-letter or stop");
    }
    if (retryDelays == null) {
      return;
    }
    List<Long> delays = new ArrayList<>();
    for (String delay : retryDelays.split(",", -1)) {
      delays.add(
          CommandTimes.millis(
              "--retry-delays", delay.trim(), 0, ConsumerOptions.RETRY_DELAY_MILLIS_MAX));
    }
    if (delays.size() > ConsumerOptions.RETRY_DELAYS_MAX) {
      throw CommandFailure.usage(
          "--retry-delays with "
              + delays.size()
              + " times: at most "
              + ConsumerOptions.RETRY_DELAYS_MAX);
    }
    options.setRetryDelaysMillis(delays);
  }
}
