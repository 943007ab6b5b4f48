package dev.evenkeel.cli;

import dev.evenkeel.client.ConsumerOptions;
import java.util.Locale;
import picocli.CommandLine.Option;

/** What a crash may do to a message. */
final class DeliveryOptions {
  @Option(
      names = "--delivery",
      paramLabel = "at-most-once|at-least-once|effectively-once",
      description =
          "at-most-once: commit before the message is handled, and never try again; at-least-once:"
              + " commit after it; effectively-once: that, and the state of --on-assign and"
              + " --on-release counts each message once (default: at-least-once).")
  private String delivery;

  /**
   * To be called last: it looks at the other options.
   *
   * @param state whether --on-assign or --on-release is given
   * @param commands whether both are, and --exec
   * @param max whether --max is given
   * @throws CommandFailure wrong usage, saying what would be right
   */
  void apply(
      ConsumerOptions options, ModeOptions mode, boolean state, boolean commands, boolean max) {
    if (delivery == null) {
      return;
    }
    switch (delivery) {
      case "at-most-once", "at-least-once", "effectively-once" ->
          options.setDelivery(
              ConsumerOptions.DeliveryPolicy.valueOf(
                  delivery.toUpperCase(Locale.ROOT).replace('-', '_')));
      default ->
          throw CommandFailure.usage(
              "--delivery " + delivery + ": use at-most-once, at-least-once or effectively-once");
    }
    String given = "--delivery " + delivery;
    if (options.getDelivery() == ConsumerOptions.DeliveryPolicy.AT_LEAST_ONCE) {
      return;
    }
    mode.onlySharded(given, delivery);
    if (options.getMode() != ConsumerOptions.Mode.SHARDED) {
      throw CommandFailure.usage(
          given + ": only --mode sharded has it; in others it is at-least-once");
    }
    if (options.getDedup() != ConsumerOptions.Dedup.OFF) {
      throw CommandFailure.usage(given + ": not with --dedup, leave one of them out");
    }
    if (options.getDelivery() == ConsumerOptions.DeliveryPolicy.EFFECTIVELY_ONCE) {
      if (!commands || options.getOrder() != ConsumerOptions.Order.SHARD) {
        throw CommandFailure.usage(
            given + ": it needs --exec, --on-assign, --on-release and --order shard");
      }
    } else if (max) {
      throw CommandFailure.usage(
          given + ": not with --max, beyond which messages would be committed and not handled");
    } else if (state
        || !options.getRetryDelaysMillis().isEmpty()
        || options.getOnFailure() != ConsumerOptions.OnFailure.RETRY) {
      throw CommandFailure.usage(
          given + ": not with --on-assign, --on-release, --retry-delays or --on-failure");
    }
  }
}
