package dev.evenkeel.functional;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Walks the page for beginners: runs each command of its console blocks in a shell, and compares
 * what it prints with what the page says. In the page, {@code …} stands for anything, and a command
 * whose output ends with a line of that alone goes on in the background.
 */
class GettingStartedIT {
  private static final Path PAGE = Path.of("src/site/markdown/getting-started.md");
  private static final Pattern CONSOLE = Pattern.compile("(?s)```console\n(.*?)```");
  private static final String ANYTHING = "…";
  private static final Pattern COLOUR = Pattern.compile("\\e\\[[;\\d]*m");
  private static final long COMMAND_SECONDS_MAX = 120;
  private static final long BUILD_SECONDS_MAX = 1_200;

  @TempDir Path directory;

  /**
   * A command and what it prints.
   *
   * @param goesOn whether it goes on in the background after that
   */
  private record Step(String command, List<String> output, boolean goesOn) {
    boolean builds() {
      return command.startsWith("mvn ");
    }
  }

  private static List<Step> steps() throws IOException {
    List<Step> steps = new ArrayList<>();
    Matcher block = CONSOLE.matcher(Files.readString(PAGE));
    while (block.find()) {
      String command = null;
      List<String> output = new ArrayList<>();
      for (String line : (block.group(1) + "$ ").lines().toList()) {
        if (!line.startsWith("$ ")) {
          output.add(line);
          continue;
        }
        if (command != null) {
          boolean goesOn = output.remove(ANYTHING);
          steps.add(new Step(command, List.copyOf(output), goesOn));
        }
        command = line.substring(2);
        output.clear();
      }
    }
    return steps;
  }

  @Test
  void everyCommandPrintsWhatThePageSays() throws Exception {
    Files.createSymbolicLink(directory.resolve("target"), Jar.JAR.getParent());
    walk(directory, steps().stream().filter(step -> !step.builds()).toList());
  }

  /** As a new user: the sources of the last commit, and nothing else. */
  @Test
  @Tag("full")
  @Timeout(1_800)
  void theSameFromAFreshClone() throws Exception {
    Path clone = directory.resolve("clone");
    run(directory, "git clone -q " + Path.of("").toAbsolutePath() + " clone", COMMAND_SECONDS_MAX);
    walk(clone, steps());
  }

  private static void walk(Path in, List<Step> steps) throws Exception {
    assertThat(steps).hasSizeGreaterThan(8);
    for (int port : new int[] {5701, 5702, 5703, 5704, 8080}) {
      assumeTrue(isFree(port), "port " + port + " of the page is in use");
    }
    Deque<Process> background = new ArrayDeque<>();
    try {
      for (Step step : steps) {
        if (step.goesOn) {
          background.push(begin(in, step, background.size()));
        } else {
          long seconds = step.builds() ? BUILD_SECONDS_MAX : COMMAND_SECONDS_MAX;
          assertThat(matches(step, run(in, step.command, seconds).lines().toList()))
              .as(step.command)
              .isTrue();
        }
      }
    } finally {
      for (Process each : background) {
        each.destroy();
        each.waitFor(30, TimeUnit.SECONDS);
        each.destroyForcibly();
      }
    }
  }

  private static boolean isFree(int port) {
    try (ServerSocket socket = new ServerSocket()) {
      socket.setReuseAddress(true);
      socket.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), port));
      return true;
    } catch (IOException e) {
      return false;
    }
  }

  private static ProcessBuilder shell(Path in, String command) {
    return new ProcessBuilder("sh", "-c", command).directory(in.toFile()).redirectErrorStream(true);
  }

  private static String run(Path in, String command, long seconds) throws Exception {
    Path out = Files.createTempFile(in, "out", ".txt");
    Process process = shell(in, command).redirectOutput(out.toFile()).start();
    boolean ended = process.waitFor(seconds, TimeUnit.SECONDS);
    process.destroyForcibly();
    // Maven sets the colours of a terminal back, which nobody sees.
    String printed = COLOUR.matcher(Files.readString(out)).replaceAll("");
    assertThat(ended && process.exitValue() == 0).as("%s prints:%n%s", command, printed).isTrue();
    return printed;
  }

  private static Process begin(Path in, Step step, int number) throws IOException {
    Path out = in.resolve("background-" + number + ".txt");
    Process process = shell(in, "exec " + step.command).redirectOutput(out.toFile()).start();
    Awaitility.await(step.command)
        .atMost(Duration.ofSeconds(COMMAND_SECONDS_MAX))
        .until(
            () -> {
              List<String> lines = Files.readAllLines(out);
              return lines.stream().anyMatch(Pattern.compile(pattern(step)).asMatchPredicate())
                  || step.output.isEmpty();
            });
    return process;
  }

  private static String pattern(Step step) {
    return step.output.stream().map(GettingStartedIT::pattern).collect(Collectors.joining("|"));
  }

  /** Messages of different shards come in any order. */
  private static boolean matches(Step step, List<String> printed) {
    List<String> wanted = new ArrayList<>(step.output);
    List<String> lines = new ArrayList<>(printed);
    if (step.command.contains(" consume ")) {
      Collections.sort(wanted);
      Collections.sort(lines);
    }
    String pattern =
        wanted.stream().map(GettingStartedIT::pattern).collect(Collectors.joining("\n"));
    String text = lines.stream().map(String::stripTrailing).collect(Collectors.joining("\n"));
    assertThat(text).as(step.command).matches(pattern);
    return true;
  }

  /** Blanks stand for one or more of them, so that tables need not be as wide. */
  private static String pattern(String line) {
    return Stream.of(line.strip().split(" +"))
        .map(word -> word.equals(ANYTHING) ? ".*" : Pattern.quote(word))
        .collect(Collectors.joining(" +"));
  }
}
