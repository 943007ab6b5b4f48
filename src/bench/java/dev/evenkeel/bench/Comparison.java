package dev.evenkeel.bench;

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
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
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
  private final long seconds = Long.getLong("bench.seconds", 8);
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
    System.out.print(table(mode, results));
  }

  private static String figures(Mode mode, JsonObject result) {
    List<String> texts = new ArrayList<>();
    mode.figures().forEach(figure -> texts.add(figure + "=" + figure(result, figure)));
    return String.join(" ", texts);
  }

  /** A Markdown table of medians, smallest and largest values, with a line for each comparison. */
  private static String table(Mode mode, Map<String, List<JsonObject>> results) {
    StringBuilder table = new StringBuilder();
    row(table, "mode", "figure", "Evenkeel", "Kafka", "Evenkeel / Kafka", "target");
    row(table, "---", "---", "---", "---", "---", "---");
    for (String figure : mode.figures()) {
      List<Double> ours = values(results.get(Contender.EVENKEEL.name()), figure);
      Double worst = ours.isEmpty() ? null : (Double) Stats.max(ours);
      if (mode.systems().size() == 1) {
        row(table, "`" + mode.name() + "`", Mode.label(figure), cell(ours), "", "", "");
      }
      for (Contender other : mode.systems().subList(1, mode.systems().size())) {
        List<Double> theirs = values(results.get(other.name()), figure);
        Double ratio =
            ours.isEmpty() || theirs.isEmpty()
                ? null
                : ratio(Stats.median(ours), Stats.median(theirs));
        row(
            table,
            "`" + mode.name() + "`",
            Mode.label(figure),
            cell(ours),
            cell(theirs) + " " + other.variant(),
            ratio == null ? "" : ratio.toString(),
            mode.goals().stream()
                .filter(goal -> goal.figure().equals(figure))
                .filter(goal -> goal.against() == null || goal.against().equals(other.name()))
                .map(goal -> goal.shown(goal.against() == null ? worst : ratio))
                .findFirst()
                .orElse(""));
      }
    }
    return table.toString();
  }

  private static void row(StringBuilder table, String... cells) {
    table.append("| ").append(String.join(" | ", cells)).append(" |\n");
  }

  private static String cell(List<Double> values) {
    return values.isEmpty()
        ? "no figures"
        : "%s (%s to %s)"
            .formatted(
                shown(Stats.median(values)), shown(Stats.min(values)), shown(Stats.max(values)));
  }

  /** Null where theirs is 0, as duplicates may be. */
  private static Double ratio(double ours, double theirs) {
    return theirs == 0 ? null : (Double) (Math.round(100 * ours / theirs) / 100.0);
  }

  private static String shown(double value) {
    return value >= 1_000
        ? String.format(Locale.ROOT, "%,d", Math.round(value))
        : String.valueOf(Math.round(value * 100) / 100.0);
  }

  /** Of the runs that know the figure. */
  private static List<Double> values(List<JsonObject> results, String figure) {
    return results.stream().map(result -> figure(result, figure)).filter(Objects::nonNull).toList();
  }

  /** The largest, if each node has a value of its own; null if the run does not know the figure. */
  private static Double figure(JsonObject result, String path) {
    Object value = result;
    for (String name : path.split("\\.")) {
      value = value instanceof JsonObject inner ? inner.getValue(name) : null;
    }
    if (value instanceof JsonObject nodes) {
      return nodes.stream()
          .mapToDouble(node -> ((Number) node.getValue()).doubleValue())
          .max()
          .orElseThrow();
    }
    return value instanceof Number number ? (Double) number.doubleValue() : null;
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
