package dev.evenkeel.bench;

import dev.evenkeel.cli.CommandFailure;
import dev.evenkeel.cli.OptionFormats;
import dev.evenkeel.cli.Table;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.function.Function;
import java.util.function.Supplier;
import picocli.CommandLine.Command;

/** {@code evenkeel bench rebalance}. */
@Command(
    name = "rebalance",
    description = {
      "How long shards pause when consumers join, leave, are killed and vanish.",
      "Consumers are processes of their own that work for a millisecond on each message. A pause is"
          + " seen at the messages: from the last that the former owner handled to the first that"
          + " the next one did; of a shard that stays, the longest time between two messages."
    },
    footer = {
      "",
      "Examples:",
      "  evenkeel bench rebalance",
      "  evenkeel bench rebalance --repeats 5 --kinds kill",
      "  evenkeel bench rebalance --consumers 6 --shards 24 --rate 4000 --format json",
      "",
      "'steady' is the longest time between two messages of a shard in the two seconds before a",
      "change: where that is long, the machine was busy."
    })
final class RebalanceBench extends Benchmark {
  private static final int KEYS_UNLESS_GIVEN = 200;

  private final Supplier<Integer> repeats =
      options.flags.integer("--repeats", "20", 1, 10_000, "How often each kind happens");

  private final Supplier<List<RebalanceLoad.Kind>> kinds =
      options.flags.constants(
          "--kinds",
          "leave|kill|vanish",
          RebalanceLoad.Kind.class,
          "leave,kill,vanish",
          "leave (SIGTERM), kill (SIGKILL), vanish (SIGSTOP, so nothing is closed); before each of"
              + " them one more consumer joins, which is measured, too");

  private final Supplier<Integer> consumers =
      options.flags.integer("--consumers", "3", 1, Integer.MAX_VALUE, "Consumers before each join");

  private final Supplier<Double> rate =
      options.flags.perSecond("--rate", "2000", 100_000, "Messages a second, over all shards");

  private final Supplier<String> memberJvm =
      options.flags.text(
          "--member-jvm",
          "OPTIONS",
          "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
          "Options for the consumers' JVMs, '' for none (default: ${DEFAULT-VALUE}: they live for"
              + " half a minute, in which a JVM as it comes does little but compile itself).");

  private final Supplier<Long> warmUpMillis =
      options.flags.time(
          "--warm-up",
          "30s",
          "Load before the first change, so that nodes have compiled what they run");

  @Override
  void check() {
    if (kinds.get().contains(RebalanceLoad.Kind.JOIN)) {
      throw CommandFailure.usage("--kinds 'join': use leave, kill or vanish");
    }
    OptionFormats.range("--consumers", consumers.get(), 1, options.shards.get() - 1L);
  }

  @Override
  int measure(Target target) throws InterruptedException {
    Path errors = errors();
    try {
      RebalanceLoad load =
          new RebalanceLoad(
              target,
              newTopic(target),
              options.shards.get(),
              keys(),
              options.sizeBytes(),
              rate.get(),
              BenchOptions.jvmOptions(memberJvm.get()),
              errors);
      RebalanceLoad.Outcome outcome =
          load.run(
              consumers.get(), repeats.get(), new LinkedHashSet<>(kinds.get()), warmUpMillis.get());
      print(target, outcome);
      delete(errors);
      return status(outcome.sent(), outcome.failed(), outcome.firstFailure());
    } catch (CommandFailure e) {
      complain("what the consumers said is in " + errors);
      throw e;
    }
  }

  private int keys() {
    return options.keys.get() == 0 ? KEYS_UNLESS_GIVEN : options.keys.get();
  }

  private Path errors() {
    try {
      Files.createDirectories(options.data());
      return Files.createTempFile(options.data(), "evenkeel-members-", ".err");
    } catch (IOException e) {
      throw CommandFailure.failed("--data: " + e.getMessage(), e);
    }
  }

  private static void delete(Path file) {
    try {
      Files.deleteIfExists(file);
    } catch (IOException e) {
      complain("could not remove " + file + ": " + e);
    }
  }

  private void print(Target target, RebalanceLoad.Outcome outcome) {
    Table table = new Table("KIND", "MILLISECONDS", "COUNT", "MEDIAN", "P99", "MAX");
    JsonObject json =
        result(target)
            .put("keys", keys())
            .put("rate", rate.get())
            .put("consumers", consumers.get())
            .put("memberJvm", memberJvm.get())
            .put("repeats", repeats.get())
            .put("sent", outcome.sent())
            .put("acked", outcome.sent() - outcome.failed())
            .put("failed", outcome.failed())
            .put("handled", outcome.handled());
    outcome
        .changes()
        .forEach(
            (kind, changes) -> {
              String name = kind.name().toLowerCase(Locale.ROOT);
              JsonObject of = new JsonObject().put("count", changes.size());
              figure(table, of, name, "moved", changes, Handlings.Change::movedMillis);
              figure(table, of, name, "stayed", changes, Handlings.Change::stayedMillis);
              figure(table, of, name, "steady", changes, Handlings.Change::steadyMillis);
              counts(table, of, name, "moves", changes, change -> (long) change.moves());
              counts(table, of, name, "duplicates", changes, Handlings.Change::duplicates);
              json.put(name, of);
            });
    options.print(table.text(), json);
  }

  private static void figure(
      Table table,
      JsonObject json,
      String kind,
      String what,
      List<Handlings.Change> changes,
      Function<Handlings.Change, List<Double>> millis) {
    Percentiles all = new Percentiles();
    for (Handlings.Change change : changes) {
      millis.apply(change).forEach(each -> all.add(Math.round(each * 1e6)));
    }
    table.row(kind, what, all.count(), all.millis(50), all.millis(99), all.millis(100));
    json.put(
        what,
        new JsonObject()
            .put("count", all.count())
            .put("medianMillis", all.millis(50))
            .put("p99Millis", all.millis(99))
            .put("maxMillis", all.millis(100)));
  }

  private static void counts(
      Table table,
      JsonObject json,
      String kind,
      String what,
      List<Handlings.Change> changes,
      Function<Handlings.Change, Long> count) {
    List<Long> counts = changes.stream().map(count).toList();
    double median = Stats.median(counts);
    table.row(kind, what + " (number)", counts.size(), median, null, Stats.max(counts));
    json.put(
        what,
        new JsonObject()
            .put("median", median)
            .put("max", Stats.max(counts))
            .put("each", new JsonArray(new ArrayList<>(counts))));
  }
}
