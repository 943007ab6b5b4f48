package dev.evenkeel.bench;

import dev.evenkeel.cli.Table;
import io.vertx.core.json.JsonObject;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/**
 * Evenkeel and Kafka under the same loads, in turns, each run with fresh nodes on the same disk and
 * a client in a JVM of its own; a run is over before the next one begins. Prints a table for each
 * mode, and appends each result to {@code results.jsonl}.
 *
 * <p>System properties: {@code bench.jar}, {@code bench.data}, {@code bench.rounds}, {@code
 * bench.seconds}, {@code bench.repeats}, and {@code bench.only} with names of modes.
 */
public final class Comparison {
  /** The same heap for the nodes of both systems: what Kafka's own script gives it. */
  private static final String NODE_JVM = "-Xmx1G -Xms1G";

  private final Path jar = Path.of(System.getProperty("bench.jar"));
  private final Path data = Path.of(System.getProperty("bench.data"));
  private final int rounds = Integer.getInteger("bench.rounds", 3);
  private final int repeats = Integer.getInteger("bench.repeats", 20);
  private final long seconds = Long.getLong("bench.seconds", 3);
  private final List<String> only =
      Arrays.stream(System.getProperty("bench.only", "").split(","))
          .filter(name -> !name.isBlank())
          .toList();

  private Comparison() {}

  public static void main(String[] args) throws IOException, InterruptedException {
    new Comparison().run();
  }

  private void run() throws IOException, InterruptedException {
    List<Mode> modes = Mode.all(seconds, repeats);
    List<String> names = modes.stream().map(Mode::name).toList();
    if (!names.containsAll(only)) {
      throw new IllegalArgumentException("-Dbench.only=" + only + ": modes are " + names);
    }
    Files.createDirectories(data);
    System.out.println(machine());
    for (Mode mode : modes) {
      if (only.isEmpty() ? !mode.longRun() : only.contains(mode.name())) {
        run(mode);
      }
    }
  }

  private static String machine() {
    return Runtime.getRuntime().availableProcessors()
        + " processors, Java "
        + System.getProperty("java.version")
        + ", "
        + System.getProperty("os.name")
        + " "
        + System.getProperty("os.version");
  }

  private void run(Mode mode) throws IOException, InterruptedException {
    Map<String, List<JsonObject>> results = new LinkedHashMap<>();
    mode.systems().forEach(system -> results.put(system.name(), new ArrayList<>()));
    for (int round = 0; round < rounds; round++) {
      for (int i = 0; i < mode.systems().size(); i++) {
        // In turns, and not always the same one first.
        Contender system = mode.systems().get((i + round) % mode.systems().size());
        JsonObject result = measure(mode, system);
        if (result == null) {
          continue;
        }
        result.put("mode", mode.name()).put("contender", system.name()).put("round", round);
        results.get(system.name()).add(result);
        Files.writeString(
            data.resolve("results.jsonl"),
            result.encode() + "\n",
            StandardOpenOption.CREATE,
            StandardOpenOption.APPEND);
        System.err.println(mode.name() + " " + system.name() + ": " + figures(mode, result));
      }
    }
    System.out.println();
    System.out.println(mode.name());
    System.out.print(table(mode, results).text());
  }

  private static String figures(Mode mode, JsonObject result) {
    List<String> texts = new ArrayList<>();
    mode.figures().forEach(figure -> texts.add(figure + "=" + figure(result, figure)));
    return String.join(" ", texts);
  }

  private static Table table(Mode mode, Map<String, List<JsonObject>> results) {
    Table table =
        new Table("FIGURE", "SYSTEM", "MEDIAN", "MIN", "MAX", "EVENKEEL/IT", "AIM", "MET");
    for (String figure : mode.figures()) {
      List<Double> ours = values(results.get(Contender.EVENKEEL.name()), figure);
      for (Contender system : mode.systems()) {
        List<Double> values = values(results.get(system.name()), figure);
        if (values.isEmpty()) {
          table.row(figure, system.name(), null, null, null, null, null, "no figures");
          continue;
        }
        Double ratio = ours.isEmpty() ? null : ratio(Stats.median(ours), Stats.median(values));
        Mode.Goal goal =
            mode.goals().stream()
                .filter(each -> each.figure().equals(figure))
                .filter(each -> each.against().equals(system.name()))
                .findFirst()
                .orElse(null);
        table.row(
            figure,
            system.name(),
            shown(Stats.median(values)),
            shown(Stats.min(values)),
            shown(Stats.max(values)),
            ratio,
            goal,
            goal == null || ratio == null ? null : goal.met(ratio) ? "yes" : "no");
      }
    }
    return table;
  }

  /** Null where theirs is 0, as duplicates may be. */
  private static Double ratio(double ours, double theirs) {
    return theirs == 0 ? null : (Double) (Math.round(100 * ours / theirs) / 100.0);
  }

  private static Number shown(double value) {
    return value >= 1_000 ? (Number) Math.round(value) : Math.round(value * 100) / 100.0;
  }

  private static List<Double> values(List<JsonObject> results, String figure) {
    return results.stream().map(result -> figure(result, figure)).toList();
  }

  private static double figure(JsonObject result, String path) {
    JsonObject inner = result;
    String[] names = path.split("\\.");
    for (int i = 0; i < names.length - 1; i++) {
      inner = inner.getJsonObject(names[i]);
    }
    return inner.getDouble(names[names.length - 1]);
  }

  /** The result of one run; null if it gave none, which one bad run of many may do. */
  private JsonObject measure(Mode mode, Contender system) throws IOException, InterruptedException {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    if (system.properties() == null) {
      command.addAll(List.of("-jar", jar.toString(), "bench"));
    } else {
      command.addAll(system.properties());
      command.add("-Devenkeel.log.level=ERROR");
      command.addAll(List.of("-cp", System.getProperty("java.class.path")));
      command.add(KafkaBench.class.getName());
    }
    command.addAll(mode.args());
    command.addAll(List.of("--data", data.toString(), "--format", "json"));
    if (system.properties() == null) {
      command.addAll(List.of("--node-jvm", NODE_JVM));
    }
    // What an earlier run has left unwritten must not be written during this one.
    new ProcessBuilder("sync").start().waitFor();
    Path out = data.resolve("run.out");
    Path err =
        data.resolve(mode.name() + "-" + system.name().replaceAll("[^A-Za-z0-9]+", "-") + ".err");
    Process process =
        new ProcessBuilder(command)
            .redirectOutput(out.toFile())
            .redirectError(err.toFile())
            .start();
    if (!process.waitFor(mode.runMinutesMax(), TimeUnit.MINUTES)) {
      process.destroy();
      process.waitFor();
    }
    return Files.readAllLines(out, StandardCharsets.UTF_8).stream()
        .filter(line -> line.startsWith("{"))
        .findFirst()
        .map(JsonObject::new)
        .orElseGet(
            () -> {
              System.err.println(mode.name() + " " + system.name() + " gave nothing, see " + err);
              return null;
            });
  }
}
