package dev.evenkeel.log.raft;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

class LogMemoryTest {
  /** What the places and the bodies of all log groups take together, counted per entry. */
  private static long needed(LogMemory memory, int groups) {
    long places = memory.entriesBetweenSnapshots() * LogMemory.PLACE_BYTES;
    return groups * (places + memory.bodies());
  }

  @Test
  void theLogGroupsShareWhatThereIs() {
    AtomicInteger groups = new AtomicInteger(1);
    LogMemory memory = new LogMemory(240L << 20, groups::get);
    for (int count = 1; count <= 12; count++) {
      groups.set(count);
      assertThat(needed(memory, count)).isLessThanOrEqualTo(240L << 20);
      assertThat(memory.appliedBodies()).isLessThanOrEqualTo(memory.bodies());
    }
    groups.set(1);
    assertThat(memory.entriesBetweenSnapshots()).isEqualTo(LogMemory.ENTRIES_MAX);
    groups.set(12);
    assertThat(memory.entriesBetweenSnapshots()).isLessThan(LogMemory.ENTRIES_MAX);
  }

  @Test
  void aLogGroupOfASmallNodeStillWorks() {
    LogMemory memory = new LogMemory(1 << 20, () -> 100);
    assertThat(memory.entriesBetweenSnapshots()).isGreaterThanOrEqualTo(10_000);
    assertThat(memory.bodies()).isGreaterThanOrEqualTo(RaftSettings.ENTRY_BYTES_MAX);
  }
}
