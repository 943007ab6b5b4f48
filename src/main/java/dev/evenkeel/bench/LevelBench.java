package dev.evenkeel.bench;

import dev.evenkeel.cli.Table;
import dev.evenkeel.client.ConsumerOptions;
import dev.evenkeel.client.internal.member.OptionsCheck;
import dev.evenkeel.protocol.GroupPolicy;
import dev.evenkeel.protocol.Outcome;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;
import picocli.CommandLine.Command;

/** {@code evenkeel bench level}. */
@Command(
    name = "level",
    description = {
      "Measures what level dispatch costs.",
      "It first fills a topic. Then groups of equal consumers read it, one after another: in mode"
          + " sharded with order none, and in mode level with each strategy. The ratio compares"
          + " with mode sharded in the same run."
    },
    footer = {
      "  evenkeel bench level",
      "  evenkeel bench level --range 10 --work 5ms",
      "  evenkeel bench level --curve --work 0ms --messages 1000000 --format json"
    })
final class LevelBench extends GroupBenchmark {
  private static final List<Integer> CURVE = List.of(1, 10, 100, 1_000, 10_000);

  private final Supplier<Integer> range =
      options.flags.integer(
          "--range", "100", 1, GroupPolicy.RANGE_MAX, "Largest difference in finished messages");

  private final Supplier<Boolean> curve =
      options.flags.given(
          "--curve", "Measure the ranges 1, 10, 100, 1,000 and 10,000 instead of one.");

  LevelBench() {
    super("4", "300000", "16", "3s");
  }

  @Override
  Table table(JsonArray runs) {
    return Table.of(
        "MODE mode, STRATEGY strategy, RANGE range, MESSAGES/S messagesPerSecond,"
            + " OF SHARDED ofSharded, LEAST least, MOST most",
        runs);
  }

  @Override
  JsonArray runs(EvenkeelTarget target) throws InterruptedException {
    String topic = fill(target, payloads());
    if (warmupMillis.get() > 0) {
      List<ConsumerOptions> kinds = modes(List.of(range.get()));
      for (int i = 0; i < kinds.size(); i++) {
        run(topic, "warmup-" + i, kinds.get(i), warmupMillis.get());
      }
    }
    JsonArray runs = new JsonArray();
    double sharded = 0;
    for (ConsumerOptions mode : modes(curve.get() ? CURVE : List.of(range.get()))) {
      boolean level = mode.getMode() == ConsumerOptions.Mode.LEVEL;
      Outcome outcome = run(topic, String.valueOf(runs.size()), mode, durationMillis.get());
      sharded = level ? sharded : outcome.perSecond();
      runs.add(
          new JsonObject()
              .put("mode", OptionsCheck.policy(mode).mode())
              .put("strategy", OptionsCheck.policy(mode).strategy())
              .put("range", level ? (Integer) mode.getRange() : null)
              .mergeIn(outcome.json())
              .put("ofSharded", Stats.rounded(outcome.perSecond() / sharded))
              .put("least", outcome.least())
              .put("most", outcome.most()));
    }
    return runs;
  }

  /** Mode sharded comes first, because the others are compared with it. */
  private static List<ConsumerOptions> modes(List<Integer> ranges) {
    List<ConsumerOptions> modes = new ArrayList<>();
    modes.add(new ConsumerOptions());
    for (ConsumerOptions.Strategy strategy : ConsumerOptions.Strategy.values()) {
      for (int each : ranges) {
        modes.add(
            new ConsumerOptions()
                .setMode(ConsumerOptions.Mode.LEVEL)
                .setStrategy(strategy)
                .setRange(each));
      }
    }
    return modes;
  }
}
