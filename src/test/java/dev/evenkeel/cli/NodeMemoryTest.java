package dev.evenkeel.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.evenkeel.broker.node.HeapShares;
import java.util.HashMap;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class NodeMemoryTest {
  private static NodeMemory of(int heapMib, Map<String, Object> set) {
    Map<String, Object> given = new HashMap<>(set);
    given.put("node", "n1");
    NodeConfig config = NodeConfig.of(ConfigReader.merge(given, "conf", Map.of(), Map.of()));
    return NodeMemory.of(config, new HeapShares((long) heapMib << 20));
  }

  /** Whoever sets nothing but the heap gets limits that fit into it. */
  @ParameterizedTest
  @ValueSource(ints = {192, 256, 512, 1_024, 4_096, 32_768})
  void theDefaultsAddUpToLessThanTheHeap(int heapMib) {
    NodeMemory memory = of(heapMib, Map.of());
    assertThat(memory.heapNeeded()).isLessThan(memory.heapBytes());
    assertThat(memory.tailBytes()).isPositive();
  }

  @Test
  void moreHeapMeansHigherLimits() {
    NodeMemory small = of(256, Map.of());
    NodeMemory large = of(4_096, Map.of());
    assertThat(small.tailBytes()).isEqualTo(12L << 20);
    assertThat(large.tailBytes()).isEqualTo(64L << 20);
    assertThat(large.logBytes()).isGreaterThan(10 * small.logBytes());
    assertThat(large.clientBytes()).isGreaterThan(small.clientBytes());
    assertThat(large.httpBytes()).isGreaterThan(small.httpBytes());
  }

  @Test
  void whatIsSetCounts() {
    NodeMemory set =
        of(
            256,
            Map.of(
                "tail-cache-bytes",
                "1GiB",
                "client-bytes-in-flight-max",
                "9MiB",
                "http-bytes-in-flight-max",
                "11MiB"));
    assertThat(set.tailBytes()).isEqualTo(1L << 30);
    assertThat(set.clientBytes()).isEqualTo(9L << 20);
    assertThat(set.httpBytes()).isEqualTo(11L << 20);
    assertThat(set.heapNeeded()).isGreaterThan(set.heapBytes());
  }

  @Test
  void moreDataGroupsShareTheSameHeap() {
    HeapShares heap = new HeapShares(1L << 30);
    assertThat(10 * heap.appendBytes(10)).isLessThanOrEqualTo(heap.heapBytes() / 8);
    assertThat(heap.appendBytes(1)).isEqualTo(32L << 20);
  }
}
