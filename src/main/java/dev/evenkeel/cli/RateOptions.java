package dev.evenkeel.cli;

import dev.evenkeel.client.ConsumerOptions;
import dev.evenkeel.client.Rate;
import dev.evenkeel.protocol.RefusedException;
import java.util.Locale;
import picocli.CommandLine.Option;

/** How fast messages are begun, and what becomes of those that come faster. */
final class RateOptions {
  enum Identity {
    key,
    payload
  }

  @Option(
      names = "--rate",
      paramLabel = "R",
      description =
          "Most messages that this member begins, as 100/s, 30/m or 1/10s; so many may come at once"
              + " (default: no limit). Not in mode level, and not with --dedup.")
  private String rate;

  @Option(
      names = "--key-rate",
      paramLabel = "R",
      description =
          "The same for each key: a message over it waits for its turn, and others pass (default:"
              + " no limit).")
  private String keyRate;

  @Option(
      names = "--rate-by",
      paramLabel = "key|payload",
      description = "Whose --key-rate: of a key, or of a payload (default: key).")
  private Identity rateBy;

  @Option(
      names = "--over-rate",
      paramLabel = "wait|drop-oldest|drop-newest",
      description =
          "Of the same messages over --key-rate each waits, or one waits and the older or the newer"
              + " ones are finished without work (default: wait). Dropping needs --order key or"
              + " none.")
  private String overRate;

  boolean on() {
    return rate != null || keyRate != null;
  }

  /**
   * @param options with mode, dedup and order as they are given
   * @throws CommandFailure wrong usage
   */
  void apply(ConsumerOptions options) {
    if (keyRate == null) {
      onlyKeyRate("--rate-by", rateBy);
      onlyKeyRate("--over-rate", overRate);
    }
    if (!on()) {
      return;
    }
    String first = rate != null ? "--rate " + rate : "--key-rate " + keyRate;
    if (options.getMode() == ConsumerOptions.Mode.LEVEL) {
      throw CommandFailure.usage(
          first + ": there are no rates in --mode level; all other modes have them");
    }
    if (options.getDedup() != ConsumerOptions.Dedup.OFF) {
      throw CommandFailure.usage(first + ": not together with --dedup; leave one of them out");
    }
    options.setRate(rate("--rate", rate)).setKeyRate(rate("--key-rate", keyRate));
    if (rateBy != null) {
      options.setRateBy(ConsumerOptions.RateBy.valueOf(rateBy.name().toUpperCase(Locale.ROOT)));
    }
    if (overRate != null) {
      options.setOverRate(overRate(options.getOrder()));
    }
  }

  private ConsumerOptions.OverRate overRate(ConsumerOptions.Order order) {
    switch (overRate) {
      case "wait" -> {
        return ConsumerOptions.OverRate.WAIT;
      }
      case "drop-oldest", "drop-newest" -> {
        if (order == ConsumerOptions.Order.SHARD) {
          throw CommandFailure.usage(
              "--over-rate "
                  + overRate
                  + ": with --order shard nothing passes a message that waits; use --order key or"
                  + " none");
        }
        return overRate.equals("drop-oldest")
            ? ConsumerOptions.OverRate.DROP_OLDEST
            : ConsumerOptions.OverRate.DROP_NEWEST;
      }
      default ->
          throw CommandFailure.usage(
              "--over-rate " + overRate + ": use wait, drop-oldest or drop-newest");
    }
  }

  private static void onlyKeyRate(String option, Object value) {
    if (value != null) {
      throw CommandFailure.usage(option + " " + value + ": only with --key-rate");
    }
  }

  private static Rate rate(String option, String text) {
    try {
      return text == null ? null : Rate.parse(text);
    } catch (RefusedException e) {
      throw CommandFailure.usage(option + " '" + text + "': " + e.getMessage());
    }
  }
}
