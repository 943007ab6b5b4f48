package dev.evenkeel.chaos;

import static org.assertj.core.api.Assertions.assertThat;

import dev.evenkeel.functional.Footprint;
import dev.evenkeel.model.Runs;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.LongSummaryStatistics;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.ToLongFunction;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Users who do everything at once, on nodes that die, hang, are cut off, filled up, drained and
 * replaced meanwhile: what users get is compared with a model. See chaos.md.
 */
@Tag("chaos")
class UserModelIT {
  private static final Path DIRECTORY = Path.of("target", "model");
  private static final long SECONDS = Long.getLong("evenkeel.model.seconds", 300);
  private static final int LANES = Integer.getInteger("evenkeel.model.lanes", 4);

  /** Faults of other runs may be under way. */
  private static final Duration PATIENCE = Duration.ofMinutes(3);

  /** Each pair of operations and settings is to occur in so many runs. */
  private static final int PAIRS_MIN = Integer.getInteger("evenkeel.model.pairs", 20);

  /** Threads and caches that the first runs have not needed yet. */
  private static final long LIVE_BYTES_SLACK = 24 << 20;

  private static final long THREADS_SLACK = 40;

  /** Users keep connections over HTTP for a while. */
  private static final long FILES_SLACK = 600;

  @TempDir Path users;

  @BeforeAll
  static void possible() {
    Network.assumePossible();
  }

  @Test
  @Timeout(100_000)
  void everythingThatUsersDoTogetherHoldsWhateverBreaks() throws Exception {
    long first = Long.getLong("evenkeel.model.seed", 1);
    long end = first + Long.getLong("evenkeel.model.runs", Long.MAX_VALUE - first);
    try (ManyNodes place = new ManyNodes(DIRECTORY.resolve("nodes"), 2 * LANES)) {
      Runs runs = new Runs(place, users, DIRECTORY.resolve("matrix.csv"), PATIENCE);
      try {
        long few = Math.min(end, first + 2L * LANES);
        long played = runs.play(first, LANES, seed -> seed < few);
        Map<String, Footprint> before = footprints(place, "after " + played + " runs");
        long until = System.nanoTime() + TimeUnit.SECONDS.toNanos(SECONDS);
        played += runs.play(few, LANES, seed -> seed < end && System.nanoTime() < until);
        Map<String, Footprint> after = footprints(place, "after " + played + " runs");
        assertThat(place.left()).as("what is left of all runs").isEmpty();
        assertThat(grown(before, after)).as("what nodes take more of than before").isEmpty();
      } finally {
        LongSummaryStatistics bytes = runs.payloadBytes();
        System.out.printf(
            "%d messages of %d to %d bytes, up to %d names at a time; each node has a heap of %d MiB%n",
            bytes.getCount(),
            bytes.getMin(),
            bytes.getMax(),
            place.many(),
            ManyNodes.HEAP_MEBIBYTES);
        System.out.print(place.times());
        List<String> rare = runs.matrix().below(PAIRS_MIN);
        System.out.printf(
            "of %d pairs, %d have occurred in fewer than %d runs:%n",
            runs.matrix().size(), rare.size(), PAIRS_MIN);
        rare.stream().limit(100).forEach(System.out::println);
      }
    }
  }

  private static Map<String, Footprint> footprints(ManyNodes place, String when)
      throws IOException, InterruptedException {
    place.awaitWell();
    Map<String, Footprint> all = place.footprints();
    all.forEach(
        (node, its) ->
            System.out.printf(
                "%s %s: %.1f MiB live, %d MiB resident, %d threads, %d files%n",
                when,
                node,
                its.liveBytes() / 1048576.0,
                its.residentBytes() >> 20,
                its.threads(),
                its.files()));
    return all;
  }

  /** What a node takes more of than any node did after the first runs. */
  private static List<String> grown(Map<String, Footprint> before, Map<String, Footprint> after) {
    List<String> grown = new ArrayList<>();
    compare("live bytes", before, after, Footprint::liveBytes, LIVE_BYTES_SLACK, grown);
    compare("threads", before, after, Footprint::threads, THREADS_SLACK, grown);
    compare("files", before, after, Footprint::files, FILES_SLACK, grown);
    return grown;
  }

  private static void compare(
      String what,
      Map<String, Footprint> before,
      Map<String, Footprint> after,
      ToLongFunction<Footprint> figure,
      long slack,
      List<String> grown) {
    long most = before.values().stream().mapToLong(figure).max().orElseThrow();
    after.forEach(
        (node, its) -> {
          long now = figure.applyAsLong(its);
          if (now > most + slack) {
            grown.add("%s of %s: at most %d, then %d".formatted(what, node, most, now));
          }
        });
  }
}
