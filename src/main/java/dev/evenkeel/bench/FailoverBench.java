package dev.evenkeel.bench;

import dev.evenkeel.cli.CommandFailure;
import dev.evenkeel.cli.ExitStatus;
import dev.evenkeel.cli.Table;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParentCommand;

/** {@code evenkeel bench failover}. */
@Command(
    name = "failover",
    mixinStandardHelpOptions = true,
    description = {
      "How long shards are without acknowledgements when the node that leads them is killed.",
      "Three nodes; every shard is sent to at a steady rate. In each round one leader is ended by"
          + " SIGKILL, and started again when all shards are served. At the end every acknowledged"
          + " message must be there."
    },
    footer = {
      "",
      "Examples:",
      "  evenkeel bench failover",
      "  evenkeel bench failover --rounds 10 --shards 24 --format json",
      "",
      "'led' is the slowest shard of those that the killed node led; 'elsewhere' that of the rest."
    })
final class FailoverBench implements Callable<Integer> {
  @ParentCommand private BenchCommand bench;

  @Mixin private BenchOptions options;

  @Option(
      names = "--rounds",
      paramLabel = "N",
      defaultValue = "5",
      description = "Kills (default: ${DEFAULT-VALUE}).")
  private int rounds;

  @Option(
      names = "--rate",
      paramLabel = "N",
      defaultValue = "1200",
      description = "Messages a second, over all shards (default: ${DEFAULT-VALUE}).")
  private double rate;

  @Override
  public Integer call() throws InterruptedException {
    options.needThreeOwnNodes();
    options.check();
    BenchOptions.range("--rounds", rounds, 1, 1_000);
    if (!(rate > 0 && rate <= 1e6)) {
      throw CommandFailure.usage("--rate " + rate + ": it must be above 0, and at most 1000000");
    }
    if (options.sizeBytes() < FailoverLoad.SHARD_BYTES) {
      throw CommandFailure.usage(
          "--size: a message names its shard, so it needs "
              + FailoverLoad.SHARD_BYTES
              + " bytes or more");
    }
    bench.logging();
    try (Target opened = bench.open(options)) {
      if (!(opened instanceof EvenkeelTarget target)) {
        throw CommandFailure.usage("failover is measured of Evenkeel only");
      }
      String topic = BenchRun.newTopic(target, options);
      FailoverLoad.Outcome outcome =
          new FailoverLoad(
                  target, topic, options.shards(), new Payloads(options.sizeBytes(), 0, 1), rate)
              .run(rounds);
      return tell(target, outcome, target.stored(topic));
    }
  }

  private int tell(Target target, FailoverLoad.Outcome outcome, long stored) {
    List<Double> led = outcome.kills().stream().map(FailoverLoad.Kill::ledMillis).toList();
    List<Double> elsewhere =
        outcome.kills().stream()
            .map(FailoverLoad.Kill::elsewhereMillis)
            .filter(Objects::nonNull)
            .toList();
    JsonArray kills = new JsonArray();
    Table table = new Table("KILLED", "SHARDS LED", "LED MS", "ELSEWHERE MS");
    for (FailoverLoad.Kill kill : outcome.kills()) {
      table.row(kill.node(), kill.shardsLed(), kill.ledMillis(), kill.elsewhereMillis());
      kills.add(
          new JsonObject()
              .put("node", kill.node())
              .put("shardsLed", kill.shardsLed())
              .put("ledMillis", kill.ledMillis())
              .put("elsewhereMillis", kill.elsewhereMillis()));
    }
    JsonObject ledSum = sum(led);
    JsonObject elsewhereSum = sum(elsewhere);
    table.row(
        "median", null, ledSum.getDouble("medianMillis"), elsewhereSum.getDouble("medianMillis"));
    table.row("max", null, ledSum.getDouble("maxMillis"), elsewhereSum.getDouble("maxMillis"));
    JsonObject json =
        BenchRun.result("failover", target, options)
            .put("rate", rate)
            .put("kills", kills)
            .put("led", ledSum)
            .put("elsewhere", elsewhereSum)
            .put("sent", outcome.sent())
            .put("acked", outcome.acked())
            .put("failed", outcome.failed())
            .put("stored", stored < 0 ? null : stored);
    options.print(table.text(), json);
    if (stored >= 0 && stored < outcome.acked()) {
      System.err.println(
          "evenkeel bench: "
              + (outcome.acked() - stored)
              + " acknowledged messages are not in the topic");
      return ExitStatus.FAILED;
    }
    return BenchRun.status(outcome.sent(), outcome.failed(), outcome.firstFailure());
  }

  private static JsonObject sum(List<Double> millis) {
    return new JsonObject()
        .put("medianMillis", millis.isEmpty() ? null : Stats.median(millis))
        .put("maxMillis", millis.isEmpty() ? null : Stats.max(millis));
  }
}
