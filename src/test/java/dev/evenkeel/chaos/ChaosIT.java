package dev.evenkeel.chaos;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Path;
import java.util.concurrent.ThreadLocalRandom;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Three nodes and three clients in processes of their own, under load, while everything around them
 * breaks. See chaos.md.
 */
@Timeout(2 * 60 * 60)
@Tag("chaos")
class ChaosIT {
  static final double MINUTES =
      Double.parseDouble(System.getProperty("evenkeel.chaos.minutes", "3"));
  private static final Path DIRECTORY =
      Path.of(System.getProperty("evenkeel.chaos.directory", "target/chaos"));
  private static final int RUNS = Integer.getInteger("evenkeel.chaos.runs", 1);

  @BeforeAll
  static void possible() {
    Network.assumePossible();
  }

  /** The one that was asked for and those after it, or any. */
  static Stream<Long> seeds() {
    long first =
        Long.getLong("evenkeel.chaos.seed", ThreadLocalRandom.current().nextLong(1_000, 1_000_000));
    return LongStream.range(first, first + RUNS).boxed();
  }

  @ParameterizedTest(name = "seed {0}")
  @MethodSource("seeds")
  void promisesHoldWhateverBreaks(long seed) throws IOException {
    Path directory = DIRECTORY.resolve("seed-" + seed).toAbsolutePath();
    ChaosRun run = new ChaosRun(seed, (long) (MINUTES * 60_000), directory);
    Violations violations = run.run();
    assertThat(violations.isEmpty())
        .withFailMessage(
            () ->
                "run it again with -Devenkeel.chaos.seed=%d -Devenkeel.chaos.minutes=%s%n%s%n%s%nsee %s"
                    .formatted(seed, MINUTES, violations, run.plan(), directory))
        .isTrue();
  }
}
