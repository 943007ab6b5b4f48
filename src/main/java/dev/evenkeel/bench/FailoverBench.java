package dev.evenkeel.bench;

import dev.evenkeel.cli.ExitStatus;
import dev.evenkeel.cli.Table;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.util.List;
import java.util.Objects;
import java.util.function.Function;
import java.util.function.Supplier;
import picocli.CommandLine.Command;

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
final class FailoverBench extends Benchmark {
  private final Supplier<Integer> rounds =
      options.flags.integer("--rounds", "5", 1, 1_000, "Kills");

  private final Supplier<Double> rate =
      options.flags.perSecond("--rate", "1200", 1_000_000, "Messages a second, over all shards");

  FailoverBench() {
    super(true);
  }

  @Override
  void check() {
    options.needBytes(FailoverLoad.SHARD_BYTES, "a message names its shard");
  }

  @Override
  int measure(Target opened) throws InterruptedException {
    EvenkeelTarget target = evenkeel(opened);
    String topic = newTopic(target);
    Payloads payloads = new Payloads(options.sizeBytes(), 0, 1);
    FailoverLoad.Outcome outcome =
        new FailoverLoad(target, topic, options.shards.get(), payloads, rate.get())
            .run(rounds.get());
    long stored = target.stored(topic);
    JsonArray kills = new JsonArray();
    for (FailoverLoad.Kill kill : outcome.kills()) {
      kills.add(
          new JsonObject()
              .put("node", kill.node())
              .put("shardsLed", kill.shardsLed())
              .put("ledMillis", kill.ledMillis())
              .put("elsewhereMillis", kill.elsewhereMillis()));
    }
    JsonObject led = sum(outcome.kills(), FailoverLoad.Kill::ledMillis);
    JsonObject elsewhere = sum(outcome.kills(), FailoverLoad.Kill::elsewhereMillis);
    Table table =
        Table.of(
            "KILLED node, SHARDS LED shardsLed, LED MS ledMillis, ELSEWHERE MS elsewhereMillis",
            kills);
    for (String figure : List.of("median", "max")) {
      String field = figure + "Millis";
      table.row(figure, null, led.getDouble(field), elsewhere.getDouble(field));
    }
    options.print(
        table.text(),
        result(target)
            .put("rate", rate.get())
            .put("kills", kills)
            .put("led", led)
            .put("elsewhere", elsewhere)
            .put("sent", outcome.sent())
            .put("acked", outcome.acked())
            .put("failed", outcome.failed())
            .put("stored", stored < 0 ? null : stored));
    if (stored >= 0 && stored < outcome.acked()) {
      complain((outcome.acked() - stored) + " acknowledged messages are not in the topic");
      return ExitStatus.FAILED;
    }
    return status(outcome.sent(), outcome.failed(), outcome.firstFailure());
  }

  private static JsonObject sum(
      List<FailoverLoad.Kill> kills, Function<FailoverLoad.Kill, Double> figure) {
    List<Double> millis = kills.stream().map(figure).filter(Objects::nonNull).toList();
    return new JsonObject()
        .put("medianMillis", millis.isEmpty() ? null : Stats.median(millis))
        .put("maxMillis", millis.isEmpty() ? null : Stats.max(millis));
  }
}
