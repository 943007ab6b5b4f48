package dev.evenkeel.protocol.wire;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class Murmur2Test {

  /** The vectors of Kafka's own test of its hash. */
  @ParameterizedTest
  @CsvSource({
    "21, -973932308",
    "foobar, -790332482",
    "a-little-bit-long-string, -985981536",
    "a-little-bit-longer-string, -1486304829",
    "lkjh234lh9fiuh90y23oiuhsafujhadof229phr9h19h89h8, -58897971",
    "abc, 479470107"
  })
  void hashesAsKafkaDoes(String key, int hash) {
    assertThat(Murmur2.hash(key.getBytes(StandardCharsets.UTF_8))).isEqualTo(hash);
  }

  @Property
  void anyKeyHasAShard(@ForAll byte[] key, @ForAll @IntRange(min = 1, max = 10_000) int shards) {
    assertThat(Murmur2.shard(key, shards)).isBetween(0, shards - 1);
  }
}
