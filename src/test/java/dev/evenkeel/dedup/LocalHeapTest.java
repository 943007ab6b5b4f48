package dev.evenkeel.dedup;

import static dev.evenkeel.Loops.times;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.File;
import java.lang.ref.Reference;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Memory of the local form, measured in a process of its own. */
class LocalHeapTest {
  private static final int LIVE_KEYS = 1_000_000;
  private static final int BURST_KEYS = 10_000_000;

  @Test
  void aMillionKeysTakeLessThan200MegabytesAndABurstLeavesNothing() throws Exception {
    Process process =
        new ProcessBuilder(
                List.of(
                    System.getProperty("java.home")
                        + File.separator
                        + "bin"
                        + File.separator
                        + "java",
                    "-Xmx1g",
                    "-XX:+UseSerialGC",
                    "-cp",
                    System.getProperty(
                        "surefire.test.class.path", System.getProperty("java.class.path")),
                    LocalHeapTest.class.getName()))
            .redirectErrorStream(true)
            .start();
    List<String> lines = process.inputReader().lines().toList();
    assertThat(process.waitFor()).as("%s", lines).isZero();
    System.out.println("LocalHeapTest " + lines);
    String[] figures = lines.get(lines.size() - 1).split(" ");
    assertThat(Long.parseLong(figures[0])).isLessThan(200_000_000);
    assertThat(Long.parseLong(figures[1])).isZero();
    assertThat(Long.parseLong(figures[2])).isLessThan(1_000_000);
  }

  /** Prints bytes of the live keys, keys after the burst, and bytes after it. */
  public static void main(String[] args) {
    LocalCoordinator<DedupKey> coordinator = new LocalCoordinator<>(2 * LIVE_KEYS, 60_000);
    Worker worker = new Worker("m", 0, 0);
    Object[] tickets = new Object[LIVE_KEYS];
    long before = used();
    times(LIVE_KEYS, i -> tickets[i] = coordinator.enQueue(key(i), worker, i));
    long live = used() - before;
    if (coordinator.figures().keys() != LIVE_KEYS) {
      System.exit(3);
    }
    for (int i = 0; i < LIVE_KEYS; i++) {
      leave(coordinator, tickets[i]);
      tickets[i] = null;
    }
    // A hundred thousand at once.
    int atOnce = LIVE_KEYS / 10;
    for (int i = 0; i < BURST_KEYS; i++) {
      int at = i % atOnce;
      if (tickets[at] != null) {
        leave(coordinator, tickets[at]);
      }
      tickets[at] = coordinator.enQueue(key(i), worker, i);
    }
    for (int i = 0; i < atOnce; i++) {
      leave(coordinator, tickets[i]);
      tickets[i] = null;
    }
    long after = used() - before;
    System.out.println(live + " " + coordinator.figures().keys() + " " + Math.max(0, after));
    Reference.reachabilityFence(tickets);
  }

  @SuppressWarnings("unchecked")
  private static void leave(LocalCoordinator<DedupKey> coordinator, Object ticket) {
    coordinator.deQueue((Ticket<DedupKey>) ticket, 0);
  }

  private static DedupKey key(long number) {
    return new DedupKey(number * 0x9e3779b97f4a7c15L, number);
  }

  private static long used() {
    System.gc();
    Runtime runtime = Runtime.getRuntime();
    return runtime.totalMemory() - runtime.freeMemory();
  }
}
