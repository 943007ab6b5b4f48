package dev.evenkeel.log.raft;

import static dev.evenkeel.Loops.times;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class ReadFailuresTest {
  private final List<String> damage = new ArrayList<>();
  private final ReadFailures failures = new ReadFailures(damage::add);

  private long failed(String follower, long second, String reason) {
    return failures.failed(follower, new IOException(reason), second * 1_000_000_000);
  }

  @Test
  void onlyWhatFailsAgainAndAgainIsDamage() {
    failed("n2", 0, "bad checksum");
    failed("n3", 0, "bad checksum");
    failed("n2", 1, "bad checksum");
    assertThat(damage).isEmpty();
    failed("n2", 2, "bad checksum");
    assertThat(damage)
        .containsExactly(
            "an entry of the log that n2 needs cannot be read: IOException: bad checksum");
  }

  @Test
  void aFailureNowAndThenIsNone() {
    for (int i = 0; i < 10; i++) {
      assertThat(failed("n2", 60 * i, "bad checksum")).isEqualTo(ReadFailures.PAUSE_MILLIS_MIN);
    }
    assertThat(damage).isEmpty();
  }

  @Test
  void tooManyOpenFilesAreNone() {
    times(10, i -> failed("n2", i, "log_1-2: Too many open files"));
    assertThat(damage).isEmpty();
  }

  @Test
  void thePauseDoublesUpToItsLimit() {
    long pause = 0;
    for (int i = 0; i < 100; i++) {
      long next = failed("n2", i, "bad checksum");
      assertThat(next)
          .isEqualTo(
              i == 0
                  ? ReadFailures.PAUSE_MILLIS_MIN
                  : Math.min(2 * pause, ReadFailures.PAUSE_MILLIS_MAX));
      pause = next;
    }
  }
}
