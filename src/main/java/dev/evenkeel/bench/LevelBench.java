package dev.evenkeel.bench;

import dev.evenkeel.cli.OptionFormats;
import dev.evenkeel.cli.Table;
import dev.evenkeel.client.ConsumerOptions;
import dev.evenkeel.client.EvenkeelClient;
import dev.evenkeel.client.internal.member.OptionsCheck;
import dev.evenkeel.protocol.GroupPolicy;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.util.ArrayList;
import java.util.List;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** {@code evenkeel bench level}. */
@Command(
    name = "level",
    mixinStandardHelpOptions = true,
    description = {
      "What it costs that consumers stay level.",
      "A topic is filled first. Then groups of equal consumers read it, one after another: in mode"
          + " sharded with order none, and in mode level with each strategy. The ratio is to"
          + " sharded, of the same run."
    },
    footer = {
      "",
      "Examples:",
      "  evenkeel bench level",
      "  evenkeel bench level --range 10 --work 5ms",
      "  evenkeel bench level --curve --work 0ms --messages 1000000 --format json"
    })
final class LevelBench extends GroupBenchmark {
  private static final List<Integer> CURVE = List.of(1, 10, 100, 1_000, 10_000);

  @Option(
      names = "--range",
      paramLabel = "N",
      defaultValue = "100",
      description = "Largest difference in finished messages (default: ${DEFAULT-VALUE}).")
  private int range;

  @Option(
      names = "--curve",
      description = "Measure the ranges 1, 10, 100, 1,000 and 10,000 instead of one.")
  private boolean curve;

  @Option(
      names = "--warmup",
      paramLabel = "TIME",
      converter = OptionFormats.Time.class,
      defaultValue = "3s",
      description = "For how long a group of each kind reads first (default: ${DEFAULT-VALUE}).")
  private long warmupMillis;

  LevelBench() {
    super(4, 300_000, 16);
  }

  @Override
  void check() {
    super.check();
    OptionFormats.range("--range", range, 1, GroupPolicy.RANGE_MAX);
  }

  @Override
  Table table(JsonArray runs) {
    return Table.of(
        "MODE mode, STRATEGY strategy, RANGE range, MESSAGES/S messagesPerSecond,"
            + " OF SHARDED ofSharded, LEAST least, MOST most",
        runs);
  }

  @Override
  JsonArray runs(EvenkeelTarget target, List<EvenkeelClient> clients) throws InterruptedException {
    LevelLoad load = fill(target, clients, payloads());
    if (warmupMillis > 0) {
      List<ConsumerOptions> kinds = modes(List.of(range));
      for (int i = 0; i < kinds.size(); i++) {
        load.run("warmup-" + i, kinds.get(i), warmupMillis);
      }
    }
    JsonArray runs = new JsonArray();
    double sharded = 0;
    for (ConsumerOptions mode : modes(curve ? CURVE : List.of(range))) {
      boolean level = mode.getMode() == ConsumerOptions.Mode.LEVEL;
      LevelLoad.Outcome outcome = load.run(String.valueOf(runs.size()), mode, durationMillis);
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

  /** Sharded first: the others are compared with it. */
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
