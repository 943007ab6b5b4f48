package dev.evenkeel.model;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Users who do everything at once, on a real node: what they get is compared with the {@link
 * UserModel}. {@code -Devenkeel.model.seconds=N} begins runs for that long, {@code
 * -Devenkeel.model.seed=N} begins with that seed, {@code -Devenkeel.model.lanes=1} plays one at a
 * time.
 */
class UserModelTest {
  @TempDir Path directory;

  @Test
  @Timeout(100_000)
  void everythingThatUsersDoTogetherHolds() throws InterruptedException {
    long first = Long.getLong("evenkeel.model.seed", 2);
    long end = first + Long.getLong("evenkeel.model.runs", Long.MAX_VALUE - first);
    int lanes = Integer.getInteger("evenkeel.model.lanes", 4);
    try (Place place = new OneNode()) {
      Runs runs =
          new Runs(
              place, directory, Path.of("target", "model", "matrix.csv"), Duration.ofSeconds(90));
      long until =
          System.nanoTime() + TimeUnit.SECONDS.toNanos(Long.getLong("evenkeel.model.seconds", 25));
      long played = runs.play(first, lanes, seed -> seed < end && System.nanoTime() < until);
      assertThat(played).isPositive();
    }
  }
}
