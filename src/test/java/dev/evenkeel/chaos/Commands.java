package dev.evenkeel.chaos;

import dev.evenkeel.functional.Surroundings;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;

/** Runs short commands of the operating system. */
final class Commands {
  private static final List<Path> DIRECTORIES =
      List.of(Path.of("/usr/sbin"), Path.of("/usr/bin"), Path.of("/sbin"), Path.of("/bin"));

  private Commands() {}

  /** What a command left. */
  record Result(int status, String output) {
    List<String> lines() {
      return output.lines().toList();
    }
  }

  static boolean exists(String command) {
    return DIRECTORIES.stream()
        .anyMatch(directory -> Files.isExecutable(directory.resolve(command)));
  }

  /** Runs a command, which must succeed. Words are separated by single blanks. */
  static List<String> run(String command) {
    return runFed("", command.split(" "));
  }

  /** The same, with a standard input. */
  static List<String> runFed(String input, String... command) {
    Result result = tryFed(input, command);
    if (result.status() != 0) {
      throw new IllegalStateException(
          Arrays.toString(command)
              + " ended with status "
              + result.status()
              + ": "
              + result.output());
    }
    return result.lines();
  }

  static Result tryRun(String command) {
    return tryFed("", command.split(" "));
  }

  /** Runs a command in surroundings. */
  static Result tryRun(Surroundings surroundings, String... command) {
    return tryFed(
        "",
        Stream.concat(surroundings.prefix().stream(), Stream.of(command)).toArray(String[]::new));
  }

  private static Result tryFed(String input, String... command) {
    try {
      Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
      try (var in = process.getOutputStream()) {
        in.write(input.getBytes(StandardCharsets.US_ASCII));
      }
      String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
      return new Result(process.waitFor(), output);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException(e);
    }
  }
}
