package dev.evenkeel.sim;

import static dev.evenkeel.Loops.times;
import static org.assertj.core.api.Assertions.assertThat;

import dev.evenkeel.model.Matrix;
import dev.evenkeel.model.Sequence;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * The sequences of the {@link dev.evenkeel.model.UserModel} in virtual time, where days pass in a
 * moment. {@code -Devenkeel.model.runs=N} plays so many seeds, {@code -Devenkeel.model.seconds=N}
 * begins none after that time, {@code -Devenkeel.model.seed=N} begins with that seed, and {@code
 * -Devenkeel.model.trace=true} prints what each did.
 *
 * <p>Not played here: HTTP, modes level and broadcast, batches, deduplication, rates and quotas,
 * spools, compression, acks of all replicas, large messages, filters in nodes (members filter for
 * themselves), careers of leaders, disks that are full, nodes that join and are removed, and
 * cancelling a delayed message that a reshard has moved.
 */
class UserModelSimulationTest {
  private static final int TRIES_MAX = 60;

  /** How many seeds are played unless somebody asks for another number. */
  private static final long USUAL_SEEDS = 12;

  /** A bug that shows in none of so many seeds counts as not found. */
  private static final long PLANTED_SEEDS_MAX = 400;

  @Test
  @Timeout(100_000)
  void everythingThatUsersDoTogetherHoldsForDays() throws IOException {
    long first = Long.getLong("evenkeel.model.seed", 1);
    long end = first + Long.getLong("evenkeel.model.runs", USUAL_SEEDS);
    long until =
        System.nanoTime() + TimeUnit.SECONDS.toNanos(Long.getLong("evenkeel.model.seconds", 8));
    Matrix matrix = new Matrix(names());
    long seed = first;
    try {
      for (; seed < end && System.nanoTime() < until; seed++) {
        matrix.add(played(seed));
      }
    } finally {
      matrix.write(Path.of("target", "model", "simulated.csv"));
    }
    System.out.println("simulated the users of " + (seed - first) + " seeds");
    assertThat(seed).isGreaterThan(first);
  }

  /** Bugs that the users must notice. */
  private enum Planted {
    LEASES_BEGIN_WITH_OWNERS,
    CHILDREN_DO_NOT_WAIT,
    STATES_OF_PARENTS_ARE_LOST,
    NEW_LEADER_FORGETS_DELAYED
  }

  /** The play is only worth something if it finds what is wrong: here something is. */
  @ParameterizedTest
  @EnumSource
  @Tag("full")
  void isFound(Planted planted) {
    Bug bug = Bugs.valueOf(planted.name());
    List<String> faults = List.of();
    long seed = 0;
    while (faults.isEmpty() && seed < PLANTED_SEEDS_MAX) {
      seed++;
      faults = play(seed, Sequence.of(seed, UserPlay.POSSIBLE), bug, false).model.faults();
    }
    assertThat(faults).as("what " + bug + " does").isNotEmpty();
    System.out.println(bug + " is found by seed " + seed + ": " + faults.get(0));
  }

  private static Set<String> played(long seed) {
    Sequence sequence = Sequence.of(seed, UserPlay.POSSIBLE);
    UserPlay play = play(seed, sequence, Bug.NONE, false);
    if (Boolean.getBoolean("evenkeel.model.trace")) {
      System.out.println("seed " + seed + "\n" + play.log());
    }
    if (!play.model.faults().isEmpty()) {
      throw new AssertionError(describe(seed, shortest(seed, sequence, play, Bug.NONE)));
    }
    return play.happened;
  }

  static UserPlay play(long seed, Sequence sequence, Bug bug, boolean tracing) {
    UserPlay play = new UserPlay(seed, bug, tracing);
    play.play(sequence);
    return play;
  }

  private static Sequence shortest(long seed, Sequence sequence, UserPlay failed, Bug bug) {
    String kind = kind(failed);
    int[] tries = new int[1];
    return sequence.shrunk(
        fewer -> kind(play(seed, fewer, bug, false)).equals(kind), any -> tries[0]++ < TRIES_MAX);
  }

  /** The promise that was broken first, or an empty text. */
  private static String kind(UserPlay play) {
    List<String> faults = play.model.faults();
    return faults.isEmpty() ? "" : faults.get(0).substring(0, faults.get(0).indexOf(':'));
  }

  private static String describe(long seed, Sequence sequence) {
    UserPlay again = play(seed, sequence, Bug.NONE, true);
    List<String> trace = again.trace();
    int lines = Integer.getInteger(Seeds.TRACE, Seeds.TRACE_LINES);
    return "seed %d: %s%n%s%n  %s%nmvn -o -q test -Dtest=%s -Devenkeel.model.runs=1 -D%s=%d"
        .formatted(
            seed,
            again.model.faults(),
            again.log(),
            String.join("\n  ", trace.subList(Math.max(0, trace.size() - lines), trace.size())),
            UserModelSimulationTest.class.getSimpleName(),
            "evenkeel.model.seed",
            seed);
  }

  /** All operations and settings that there can be. */
  private static Set<String> names() {
    Set<String> all = new TreeSet<>(List.of("retention", "age limit", "bytes limit"));
    UserPlay.POSSIBLE.forEach(step -> all.add(step.toString()));
    times(10_000, seed -> all.addAll(UserGroup.kind(seed).settings()));
    return all;
  }
}
