package dev.evenkeel.seconduser;

import static org.assertj.core.api.Assertions.assertThat;

import dev.evenkeel.functional.NodeLog;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Measures how much an honest user notices of each attack: prints how long its operations take
 * alone and beside the attack, and writes it to {@code target/seconduser/attacks.md}. To run it
 * alone, on a quiet machine, after {@code mvn package}:
 *
 * <pre>
 * mvn failsafe:integration-test -Dit.test=AttackFiguresIT -Devenkeel.excludedTags=chaos \
 *   -Devenkeel.forks=1 -Dmaven.test.redirectTestOutputToFile=false
 * </pre>
 *
 * <p>It takes less than 15 s for each attack. {@code -Devenkeel.attackSeconds}, {@code
 * -Devenkeel.attackRounds} and {@code -Devenkeel.attacks=NAME,NAME} change that. Times are no
 * reason to fail; failed operations, and what attackers leave behind, are.
 */
@Tag("full")
@Timeout(7_200)
class AttackFiguresIT {
  private static final int SECONDS = Integer.getInteger("evenkeel.attackSeconds", 6);
  private static final int ROUNDS = Integer.getInteger("evenkeel.attackRounds", 1);
  private static final String ONLY = System.getProperty("evenkeel.attacks");

  private static final Path REPORT = Path.of("target", "seconduser", "attacks.md");

  @TempDir Path directory;

  private static List<Attack> attacks() {
    return ONLY == null
        ? AllAttacks.ALL
        : Stream.of(ONLY.split(",")).map(AllAttacks::named).toList();
  }

  @Test
  @Tag("full")
  void nobodyNotices() throws Exception {
    try (TwoUsers users = new TwoUsers(directory, List.of(), Duration.ofSeconds(20))) {
      Files.createDirectories(REPORT.getParent());
      AttackRun run = new AttackRun(users, SECONDS, REPORT);
      // The node and this JVM become warm.
      Thread.sleep(10_000);
      run.alone(3 * SECONDS);
      boolean lives = true;
      for (int round = 0; round < ROUNDS && lives; round++) {
        for (Attack attack : attacks()) {
          lives = lives && run.attack(attack);
        }
      }
      System.out.println(run.report());
      assertThat(lives).as("the node lives").isTrue();
      assertThat(run.faults()).isEmpty();
      NodeLog.assertNoError(Arrays.asList(users.node.node()));
    }
  }
}
