package dev.evenkeel.cli;

import dev.evenkeel.client.ConsumerOptions;
import dev.evenkeel.protocol.GroupPolicy;
import java.util.List;
import picocli.CommandLine.Option;

/** How a group consumes, and what only some modes have. */
final class ModeOptions {
  private static final List<String> MODES = List.of("sharded", "level", "broadcast", "singleton");

  enum Strategy {
    pull,
    push
  }

  @Option(
      names = "--mode",
      paramLabel = "sharded|level|broadcast|singleton",
      defaultValue = "sharded",
      description =
          "sharded: each shard to one member; level: messages to members so that none has finished"
              + " many more than another, so the slowest sets the pace; broadcast: every message to"
              + " every member, each of which keeps its own --offsets; singleton: all to one"
              + " elected member, the others wait to take its place (default: ${DEFAULT-VALUE})."
              + " All members must agree on mode, range and strategy.")
  private String mode;

  @Option(
      names = "--range",
      paramLabel = "N",
      description =
          "Mode level: the largest difference between two members in finished messages, 1 to"
              + " 1,000,000; small keeps them closer, large lets more be in flight (default: 100).")
  private Integer range;

  @Option(
      names = "--strategy",
      paramLabel = "pull|push",
      description =
          "Mode level: pull: members draw as many messages as they have room for; push: they are"
              + " dealt to the members in turn (default: pull).")
  private Strategy strategy;

  @Option(
      names = "--stall-timeout",
      paramLabel = "TIME",
      description =
          "Mode level: a member that holds the others up and finishes nothing for so long is set"
              + " aside: its messages are dealt again, and it comes back as newly joined (default:"
              + " 10s).")
  private String stallTimeout;

  /**
   * @throws CommandFailure wrong usage
   */
  boolean isLevel() {
    check();
    return mode.equals("level");
  }

  private void check() {
    if (!MODES.contains(mode)) {
      throw CommandFailure.usage(
          "--mode '" + mode + "': write sharded, level, broadcast or singleton");
    }
  }

  private boolean isSingleton() {
    check();
    return mode.equals("singleton");
  }

  /**
   * @throws CommandFailure wrong usage
   */
  boolean isBroadcast() {
    return !isLevel() && mode.equals("broadcast");
  }

  /**
   * What is not given stays as the mode has it by default.
   *
   * @throws CommandFailure wrong usage
   */
  void apply(ConsumerOptions options) {
    if (!isLevel()) {
      onlyLevel("--range", range);
      onlyLevel("--strategy", strategy);
      onlyLevel("--stall-timeout", stallTimeout);
      if (isSingleton()) {
        options.setMode(ConsumerOptions.Mode.SINGLETON);
      } else if (isBroadcast()) {
        options.setMode(ConsumerOptions.Mode.BROADCAST);
      }
      return;
    }
    options.setMode(ConsumerOptions.Mode.LEVEL);
    if (range != null) {
      if (range < 1 || range > GroupPolicy.RANGE_MAX) {
        throw CommandFailure.usage(
            "--range " + range + ": it must be from 1 to " + GroupPolicy.RANGE_MAX);
      }
      options.setRange(range);
    }
    if (strategy != null) {
      options.setStrategy(
          strategy == Strategy.push
              ? ConsumerOptions.Strategy.PUSH
              : ConsumerOptions.Strategy.PULL);
    }
    if (stallTimeout != null) {
      options.setStallTimeoutMillis(
          CommandTimes.millis("--stall-timeout", stallTimeout, 1_000, 3_600_000));
    }
  }

  private static void onlyLevel(String option, Object value) {
    if (value != null) {
      throw CommandFailure.usage(option + " " + value + ": only --mode level has one");
    }
  }

  /**
   * For options about how shards are spread over members: in mode singleton one has all.
   *
   * @param value null: not given
   * @throws CommandFailure wrong usage
   */
  void onlyIfSpread(String option, Object value) {
    onlySharded(option, value);
    if (value != null && isSingleton()) {
      throw CommandFailure.usage(
          option + ": in --mode singleton one member has all shards; leave it out");
    }
  }

  /**
   * For options about shards that move from member to member: in other modes none does.
   *
   * @param value null: not given
   * @throws CommandFailure wrong usage
   */
  void onlySharded(String option, Object value) {
    if (isBroadcast()) {
      refuse(option, value);
    }
    notLevel(option, value);
  }

  /**
   * For options about failures: in mode level the dispatcher deals messages again.
   *
   * @param value null: not given
   * @throws CommandFailure wrong usage
   */
  void notLevel(String option, Object value) {
    if (isLevel()) {
      refuse(option, value);
    }
  }

  private void refuse(String option, Object value) {
    if (value != null) {
      throw CommandFailure.usage(
          option
              + ": in --mode "
              + mode
              + " no member owns shards; leave it out, or use --mode sharded");
    }
  }
}
