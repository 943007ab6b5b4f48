package dev.evenkeel.model;

import static org.assertj.core.api.Assertions.assertThat;

import dev.evenkeel.TestUsers;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Users who do everything at once, on a real node: what they get is compared with the {@link
 * UserModel}. {@code -Devenkeel.model.seconds=N} begins runs for that long, {@code
 * -Devenkeel.model.seed=N} begins with that seed, {@code -Devenkeel.model.lanes=1} plays one at a
 * time. With {@code -Devenkeel.test.users=true} only those runs are played in which the connections
 * belong to two users.
 */
class UserModelTest {
  @TempDir Path directory;

  private static Stream<Boolean> withAndWithoutUsers() {
    return TestUsers.ON ? Stream.of(true) : Stream.of(false, true);
  }

  @ParameterizedTest(name = "with two users: {0}")
  @MethodSource("withAndWithoutUsers")
  @Timeout(100_000)
  void everythingThatUsersDoTogetherHolds(boolean hasUsers) throws InterruptedException {
    long first = Long.getLong("evenkeel.model.seed", hasUsers ? 2 : 1_002);
    long end = first + Long.getLong("evenkeel.model.runs", Long.MAX_VALUE - first);
    int lanes = Integer.getInteger("evenkeel.model.lanes", 4);
    try (Place place = new OneNode(hasUsers)) {
      Runs runs =
          new Runs(
              place, directory, Path.of("target", "model", "matrix.csv"), Duration.ofSeconds(90));
      long until =
          System.nanoTime() + TimeUnit.SECONDS.toNanos(Long.getLong("evenkeel.model.seconds", 13));
      long played = runs.play(first, lanes, seed -> seed < end && System.nanoTime() < until);
      assertThat(played).isPositive();
    }
  }
}
