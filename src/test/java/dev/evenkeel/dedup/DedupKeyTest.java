package dev.evenkeel.dedup;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.util.HashSet;
import java.util.Set;
import org.junit.jupiter.api.Test;

class DedupKeyTest {
  private static byte[] utf8(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }

  @Test
  void whatIsEqualInOneScopeIsTheSameAndInAnotherItIsNot() {
    DedupKey key = new DedupScope("g", "t").key(utf8("k"));
    assertThat(new DedupScope("g", "t").key(utf8("k"))).isEqualTo(key).hasSameHashCodeAs(key);
    assertThat(new DedupScope("gt", "").key(utf8("k"))).isNotEqualTo(key);
    assertThat(new DedupScope("g", "u").key(utf8("k"))).isNotEqualTo(key);
    assertThat(new DedupScope("g", "").key(utf8("tk"))).isNotEqualTo(key);
    assertThat(DedupKey.ofBytes(key.bytes())).isEqualTo(key);
    assertThat(key.bytes()).hasSize(DedupKey.BYTES);
    DedupScope scope = new DedupScope("g", "t");
    assertThat(scope.quickKey(utf8("k"))).isEqualTo(scope.quickKey(utf8("k")));
    assertThat(scope.quickKey(utf8("k")))
        .isNotEqualTo(new DedupScope("h", "t").quickKey(utf8("k")));
  }

  /** From the reference implementation, seed 0. */
  @Test
  void theQuickHashIsMurmur3() {
    assertThat(Murmur.of(utf8(""), 0)).hasToString("00000000000000000000000000000000");
    assertThat(Murmur.of(utf8("hello"), 0)).hasToString("cbd8a7b341bd9b025b1e906a48ae1d19");
    assertThat(Murmur.of(utf8("hello, world"), 0)).hasToString("342fac623a5ebc8e4cdcbc079642414d");
  }

  @Test
  void manyBytesOfEveryLengthDiffer() {
    DedupScope scope = new DedupScope("g", "t");
    Set<DedupKey> keys = new HashSet<>();
    for (int length = 0; length < 100; length++) {
      byte[] bytes = new byte[length];
      keys.add(scope.quickKey(bytes));
      for (int i = 0; i < length; i++) {
        bytes[i] = (byte) 0x80;
        keys.add(scope.quickKey(bytes));
        bytes[i] = 0;
      }
    }
    assertThat(keys).hasSize(100 + 99 * 100 / 2);
  }
}
