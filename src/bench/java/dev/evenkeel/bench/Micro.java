package dev.evenkeel.bench;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.openjdk.jmh.results.format.ResultFormatType;
import org.openjdk.jmh.runner.Runner;
import org.openjdk.jmh.runner.RunnerException;
import org.openjdk.jmh.runner.options.ChainedOptionsBuilder;
import org.openjdk.jmh.runner.options.OptionsBuilder;
import org.openjdk.jmh.runner.options.TimeValue;

/**
 * Runs the JMH benchmarks of this folder and writes their results as a table, and to {@code
 * jmh.json}.
 *
 * <p>System properties: {@code bench.only}, regular expressions of names, separated by commas;
 * {@code bench.rounds} and {@code bench.seconds}, measurements of each benchmark and how long one
 * takes; {@code bench.data}, the folder of the results.
 */
public final class Micro {
  private Micro() {}

  public static void main(String[] args) throws IOException, RunnerException {
    Path data = Path.of(System.getProperty("bench.data"));
    TimeValue time = TimeValue.seconds(Long.getLong("bench.seconds", 3));
    Files.createDirectories(data);
    ChainedOptionsBuilder options =
        new OptionsBuilder()
            .warmupIterations(2)
            .warmupTime(time)
            .measurementIterations(Integer.getInteger("bench.rounds", 3))
            .measurementTime(time)
            .forks(1)
            .resultFormat(ResultFormatType.JSON)
            .result(data.resolve("jmh.json").toString());
    for (String name : System.getProperty("bench.only", "").split(",")) {
      if (!name.isBlank()) {
        options.include(name);
      }
    }
    new Runner(options.build()).run();
  }
}
