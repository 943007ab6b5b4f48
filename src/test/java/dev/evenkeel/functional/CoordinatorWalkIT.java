package dev.evenkeel.functional;

import static org.assertj.core.api.Assertions.assertThat;

import dev.evenkeel.Wait;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Walkers in three processes share a coordinator. One process is killed, another hangs for longer
 * than its member timeout and goes on, and the node of the dispatcher dies. No two are ever further
 * apart than the range, and all that live arrive.
 */
class CoordinatorWalkIT {
  private static final int WALKS = Integer.getInteger("evenkeel.walks", 1);
  private static final int RANGE = 10;
  private static final int TIMEOUT_MILLIS = 3_000;
  private static final int WALKERS = 3;

  @TempDir Path directory;

  @Test
  @Timeout(3_600)
  void walkersStayTogetherThroughKillsAndHangs() throws Exception {
    try (Trio trio = new Trio(directory).start()) {
      for (int walk = 0; walk < WALKS; walk++) {
        walk(trio, "walk-" + walk);
      }
    }
  }

  private void walk(Trio trio, String name) throws Exception {
    Path steps = directory.resolve(name + ".steps");
    Path goal = directory.resolve(name + ".goal");
    List<Jar.Running> processes = new ArrayList<>();
    for (String prefix : List.of("a", "b", "c")) {
      processes.add(
          Program.start(
              directory,
              name + prefix,
              Program.clientClassPath(),
              Walkers.class.getName(),
              trio.cluster(),
              name,
              String.valueOf(RANGE),
              String.valueOf(TIMEOUT_MILLIS),
              prefix,
              String.valueOf(WALKERS),
              goal.toString(),
              steps.toString()));
    }
    try (Jar.Running staying = processes.get(0);
        Jar.Running hung = processes.get(1).mayPause();
        Jar.Running killed = processes.get(2)) {
      awaitSteps(steps, "a", 50);
      awaitSteps(steps, "b", 50);
      awaitSteps(steps, "c", 50);

      signal(hung, "STOP");
      long stopped = furthest(steps, "b");
      awaitSteps(steps, "a", stopped + 5 * RANGE);
      signal(hung, "CONT");
      awaitSteps(steps, "b", stopped + 5 * RANGE);

      killed.process.destroyForcibly().waitFor();
      awaitSteps(steps, "a", furthest(steps, "c") + 5 * RANGE);

      Node dispatcher = trio.dispatcher(trio.node(1));
      dispatcher.kill();
      awaitSteps(steps, "a", furthest(steps, "") + 5 * RANGE);

      Files.writeString(goal, String.valueOf(furthest(steps, "") + 5 * RANGE));
      assertThat(staying.await().status()).isZero();
      assertThat(hung.await().status()).isZero();
      WalkCheck check = check(steps);
      System.err.printf(
          "%s: %d tracks, gap %d of %d%n", name, check.walks().size(), check.gap(), RANGE);
      assertThat(check.broken()).isEmpty();
      assertThat(check.gap()).isPositive();
      Trio.id(dispatcher);
      trio.begin(Integer.parseInt(Trio.id(dispatcher).substring(1))).awaitReady();
    }
  }

  private static void signal(Jar.Running running, String name) throws Exception {
    assertThat(
            new ProcessBuilder("kill", "-" + name, String.valueOf(running.process.pid()))
                .start()
                .waitFor())
        .isZero();
  }

  private static WalkCheck check(Path steps) {
    try {
      return WalkCheck.of(RANGE, Files.exists(steps) ? Files.readAllLines(steps) : List.of());
    } catch (IOException e) {
      throw new java.io.UncheckedIOException(e);
    }
  }

  private static long furthest(Path steps, String prefix) {
    return check(steps).furthest(prefix);
  }

  private static void awaitSteps(Path steps, String prefix, long least) {
    Wait.until(
        "walkers " + prefix + " are at " + least, 90, () -> furthest(steps, prefix) >= least);
  }
}
