package dev.evenkeel.bench;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.openjdk.jmh.results.RunResult;
import org.openjdk.jmh.runner.Runner;
import org.openjdk.jmh.runner.RunnerException;
import org.openjdk.jmh.runner.options.OptionsBuilder;
import org.openjdk.jmh.runner.options.TimeValue;
import org.openjdk.jmh.runner.options.VerboseMode;

/**
 * Runs {@code SteppingBenchmark} with 1 to 8 threads, and prints a line for each cell: granted
 * steps a second of the article's algorithm, ours, and the ratio. The lines are in {@code
 * stepping.md} too.
 *
 * <p>System properties: {@code bench.rounds}, measurements of each; {@code bench.millis}, how long
 * one takes (300); {@code bench.data}, the folder of the results.
 */
public final class Stepping {
  private static final int THREADS_MAX = 8;

  private Stepping() {}

  public static void main(String[] args) throws IOException, RunnerException {
    TimeValue time = TimeValue.milliseconds(Long.getLong("bench.millis", 300));
    List<String> lines = new ArrayList<>();
    lines.add("| threads | range | waiters | article | Evenkeel | ratio |");
    lines.add("|---|---|---|---|---|---|");
    lines.forEach(System.out::println);
    for (int threads = 1; threads <= THREADS_MAX; threads++) {
      Collection<RunResult> results =
          new Runner(
                  new OptionsBuilder()
                      .include("SteppingBenchmark")
                      .threads(threads)
                      .warmupIterations(2)
                      .warmupTime(time)
                      .measurementIterations(Integer.getInteger("bench.rounds", 3))
                      .measurementTime(time)
                      .forks(1)
                      .verbosity(VerboseMode.SILENT)
                      .build())
              .run();
      for (String line : lines(threads, results)) {
        System.out.println(line);
        lines.add(line);
      }
    }
    Path data = Path.of(System.getProperty("bench.data"));
    Files.createDirectories(data);
    Files.write(data.resolve("stepping.md"), lines);
  }

  private static List<String> lines(int threads, Collection<RunResult> results) {
    Map<String, double[]> cells = new TreeMap<>();
    for (RunResult each : results) {
      String cell =
          "%4s | %s"
              .formatted(each.getParams().getParam("range"), each.getParams().getParam("waiters"));
      boolean ours = each.getParams().getBenchmark().endsWith("evenkeel");
      cells.computeIfAbsent(cell, key -> new double[2])[ours ? 1 : 0] =
          each.getPrimaryResult().getScore();
    }
    List<String> lines = new ArrayList<>();
    cells.forEach(
        (cell, steps) ->
            lines.add(
                "| %d | %s | %,.0f | %,.0f | %.1f |"
                    .formatted(threads, cell.trim(), steps[0], steps[1], steps[1] / steps[0])));
    return lines;
  }
}
