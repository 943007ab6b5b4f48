package dev.evenkeel.model;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * The model is only worth something if it finds what is wrong: here something is. Each {@link
 * PlantedFault} is compiled into classes that go before those of the product, and users play in a
 * process of their own until a run fails. {@code -Devenkeel.model.fault=NAME} plants one only,
 * {@code -Devenkeel.model.seconds=N} looks for each for that long, {@code -Devenkeel.model.seed=N}
 * begins with that seed.
 */
class PlantedFaultsTest {
  /** A fault that is not found within this time counts as not found. */
  private static final int SECONDS_MAX = 240;

  private static final int PLAYED_SECONDS = 45;
  private static final int LANES = 4;

  @TempDir Path directory;

  /** A change of the product that moves the place of a fault must move the fault, too. */
  @Test
  void everyFaultHasItsPlaceInTheProduct() throws IOException {
    PlantedProduct.compile(List.of(PlantedFault.values()), directory);
  }

  private static Stream<PlantedFault> faults() {
    String only = System.getProperty("evenkeel.model.fault");
    return Stream.of(PlantedFault.values())
        .filter(
            fault ->
                only == null || only.isEmpty() || List.of(only.split(",")).contains(fault.name()));
  }

  @ParameterizedTest
  @MethodSource("faults")
  @Tag("full")
  @Timeout(2 * SECONDS_MAX + 120)
  void isFound(PlantedFault fault) throws IOException, InterruptedException {
    Path classes = Files.createDirectory(directory.resolve("classes"));
    PlantedProduct.compile(List.of(fault), classes);
    Path output = directory.resolve("output");
    Process process = play(fault, classes, output);
    try {
      process.waitFor();
    } finally {
      process.destroyForcibly();
    }
    String said = Files.readString(output);
    Files.copy(
        output,
        Files.createDirectories(Path.of("target", "model")).resolve("planted-" + fault + ".txt"),
        java.nio.file.StandardCopyOption.REPLACE_EXISTING);
    assertThat(process.exitValue()).as("%s is found", fault).isEqualTo(PlayMain.FOUND);
    // Runs at the same time fail together, and the fault may break more than what was expected.
    List<String> failed =
        said.lines()
            .filter(line -> line.startsWith(PlayMain.FAILED) || line.matches("seed \\d+: \\[.*"))
            .toList();
    String found =
        failed.stream()
            .filter(run -> fault.breaks.stream().anyMatch(each -> run.contains(each + ": ")))
            .findFirst()
            .orElseThrow(() -> new AssertionError("what " + fault + " breaks: " + failed));
    // Surefire stops reading from a JVM that prints lines of many thousand characters.
    System.out.printf(
        "%s is found by %.300s, after %s seeds%n", fault, found, line(said, PlayMain.PLAYED));
  }

  /** What is left is looked at in the end. */
  private static int seconds(PlantedFault fault) {
    return fault.breaks.contains(Promise.NOTHING_IS_LEFT) ? PLAYED_SECONDS : SECONDS_MAX;
  }

  private static String line(String output, String begin) {
    return output
        .lines()
        .filter(line -> line.startsWith(begin))
        .map(line -> line.substring(begin.length()))
        .findFirst()
        .orElseThrow(() -> new AssertionError(output));
  }

  private Process play(PlantedFault fault, Path classes, Path output) throws IOException {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    for (String argument : ManagementFactory.getRuntimeMXBean().getInputArguments()) {
      if (argument.startsWith("--add-")) {
        command.add(argument);
      }
    }
    // The parts of a run that fails stay behind, and go with the directory of this test.
    Path temporary = Files.createDirectory(directory.resolve("tmp"));
    command.addAll(
        List.of(
            "-Xmx1g",
            "-XX:+UseParallelGC",
            "-Djava.io.tmpdir=" + temporary,
            "-cp",
            classes + System.getProperty("path.separator") + PlantedProduct.classPath(),
            PlayMain.class.getName(),
            directory.resolve("runs").toString(),
            fault.name(),
            String.valueOf(Long.getLong("evenkeel.model.seed", 1)),
            String.valueOf(LANES),
            String.valueOf(Integer.getInteger("evenkeel.model.seconds", seconds(fault)))));
    return new ProcessBuilder(command)
        .redirectErrorStream(true)
        .redirectOutput(output.toFile())
        .start();
  }
}
