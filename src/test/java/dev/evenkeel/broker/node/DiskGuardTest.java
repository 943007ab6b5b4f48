package dev.evenkeel.broker.node;

import static org.assertj.core.api.Assertions.assertThat;

import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.RefusedException;
import java.nio.file.Path;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

class DiskGuardTest {
  private final AtomicLong free = new AtomicLong();
  private final DiskGuard guard = new DiskGuard(Path.of("data"), 1_000, free::get);

  /** L: it should not lead, F: appends are refused, E: a follower takes no entries. */
  private String at(long bytes) {
    free.set(bytes);
    guard.check();
    return (guard.low() == null ? "" : "L")
        + (full() ? "F" : "")
        + (guard.exhausted() == null ? "" : "E");
  }

  private boolean full() {
    try {
      guard.requireRoom();
      return false;
    } catch (RefusedException refused) {
      assertThat(refused.refusal()).isEqualTo(Refusal.DISK_FULL);
      assertThat(refused).hasMessageContaining(free.get() + " bytes").hasMessageContaining("1000");
      return true;
    }
  }

  @Test
  void eachStepComesBeforeTheNextAndEndsLater() {
    assertThat(at(1_250)).isEmpty();
    assertThat(at(1_249)).isEqualTo("L");
    assertThat(at(1_000)).isEqualTo("L");
    assertThat(at(999)).isEqualTo("LF");
    assertThat(at(500)).isEqualTo("LF");
    assertThat(at(499)).isEqualTo("LFE");
    assertThat(at(749)).isEqualTo("LFE");
    assertThat(at(750)).isEqualTo("LF");
    assertThat(at(1_000)).isEqualTo("L");
    assertThat(at(1_499)).isEqualTo("L");
    assertThat(at(1_500)).isEmpty();
  }

  @Test
  void withoutALimitThereIsAlwaysRoom() {
    DiskGuard none = new DiskGuard(Path.of("data"), 0, () -> 0);
    none.check();
    assertThat(none.low()).isNull();
    assertThat(none.exhausted()).isNull();
    none.requireRoom();
  }
}
