package dev.evenkeel.client.internal.level;

import static org.assertj.core.api.Assertions.assertThat;

import dev.evenkeel.bus.Assignment;
import dev.evenkeel.bus.StepPlace;
import java.util.List;
import org.junit.jupiter.api.Test;

class StepClaimTest {
  private static final long IDLE_MILLIS = 100;

  private final StepClaim claim = new StepClaim(2, 10_000, IDLE_MILLIS);
  private long revision;

  private void told(long limit, long nowMillis) {
    StepPlace place = new StepPlace(0, 0, limit, 1, 2, true);
    claim.answered(nowMillis, nowMillis);
    claim.take(
        new Assignment("c", "t", "t1", 1, ++revision, List.of(), null).withPlace(place), nowMillis);
  }

  /** Whoever waits for ready() would wait for ever. */
  @Test
  void aTrackThatWaitsForItsOwnAllowanceIsNotSetAside() {
    told(2, 0);
    claim.move(1);
    claim.move(1);
    assertThat(claim.move(1)).isEqualTo(StepClaim.Moved.WAITS_REPORT);
    claim.asks(1);
    assertThat(claim.tick(5_000)).isFalse();
    told(4, 5_000);
    assertThat(claim.mayMove(5_000)).isTrue();
    assertThat(claim.tick(5_000 + IDLE_MILLIS - 1)).isFalse();
    assertThat(claim.tick(5_000 + IDLE_MILLIS)).as("now it does not move").isTrue();
    assertThat(claim.report().aside()).isTrue();
  }
}
