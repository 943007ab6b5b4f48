package dev.evenkeel.testkit;

import static org.assertj.core.api.Assertions.assertThat;

import dev.evenkeel.dedup.LocalCoordinator;
import dev.evenkeel.dedup.Worker;
import dev.evenkeel.level.Coordinator;
import dev.evenkeel.level.Coordinators;
import dev.evenkeel.level.Range;
import dev.evenkeel.level.Track;
import io.vertx.core.Future;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class VirtualClockTest {
  private final VirtualClock clock = new VirtualClock();

  @Test
  void timersRunInTheirOrderAndAtTheirTimes() {
    List<String> ran = new ArrayList<>();
    clock.in(200, () -> ran.add("late " + clock.millis()));
    clock.in(
        100,
        () -> {
          ran.add("early " + clock.millis());
          clock.in(50, () -> ran.add("set meanwhile " + clock.millis()));
        });
    clock.advance(Duration.ofMillis(99));
    assertThat(ran).isEmpty();
    clock.advance(Duration.ofMillis(201));
    assertThat(ran).containsExactly("early 100", "set meanwhile 150", "late 200");
    assertThat(clock.millis()).isEqualTo(300);
  }

  @Test
  void anIdleTrackIsSetAsideWhenItsTimeHasPassed() {
    Coordinator level = Coordinators.coordinator(Range.of(1), 5_000, clock::nanos, clock);
    Track busy = level.track("busy");
    level.track("idle");
    while (busy.move()) {
      // Up to the range.
    }
    Future<?> ready = busy.ready();
    clock.advance(Duration.ofMillis(4_999));
    assertThat(ready.isComplete()).isFalse();
    clock.advance(Duration.ofSeconds(6));
    assertThat(ready.isComplete()).isTrue();
    assertThat(busy.move()).isTrue();
  }

  @Test
  void workThatTakesTooLongIsEvicted() {
    LocalCoordinator<String> coordinator = new LocalCoordinator<>(10, 1_000);
    Worker worker = new Worker("a", 0, 0);
    coordinator.enQueue("key", worker, clock.millis());
    coordinator.enQueue("key", worker, clock.millis());
    clock.advance(Duration.ofMillis(1_001));
    coordinator.tick(clock.millis());
    assertThat(coordinator.figures().evicted()).isEqualTo(1);
  }
}
