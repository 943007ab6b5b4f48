package dev.evenkeel;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.HashSet;
import java.util.Set;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class TestPortsTest {
  private static final int FROM = 28_000;

  /** Wherever the JVM began: the end of the range lies between two that belong together. */
  @ParameterizedTest
  @ValueSource(ints = {0, 1_000, 1_990, 1_997, 1_998, 1_999})
  void noPortIsGivenTwiceInOnePassOfTheRange(int start) {
    TestPorts ports = new TestPorts(FROM, start);
    Set<Integer> given = new HashSet<>();
    for (int node = 0; node < 380; node++) {
      int own = ports.next(4);
      for (int port : new int[] {own, own + 1, own + 2, own + 3, ports.next(1)}) {
        assertThat(given.add(port)).as("%d of node %d", port, node).isTrue();
        assertThat(port).isBetween(FROM, FROM + 1_999);
      }
    }
  }
}
