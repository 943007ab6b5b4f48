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
  void keysOfADedupByNameShowTheirName() {
    DedupScope scope = DedupScope.ofService("d");
    DedupKey one = scope.key(utf8("k"));
    DedupKey two = scope.key(utf8("l"));
    assertThat(one.high()).isEqualTo(two.high());
    assertThat(one.low()).isNotEqualTo(two.low());
    assertThat(one.hashCode()).isNotEqualTo(two.hashCode());
    assertThat(scope.contains(one)).isTrue();
    DedupScope another = DedupScope.ofService("e");
    assertThat(another.contains(one)).isFalse();
    assertThat(another.key(utf8("k")).low()).isNotEqualTo(one.low());
    assertThat(scope.contains(new DedupScope("d", "").key(utf8("k")))).isFalse();
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
    assertThat(scope.digest(utf8("k"))).isEqualTo(scope.digest(utf8("k")));
    assertThat(scope.digest(utf8("k"))).isNotEqualTo(new DedupScope("h", "t").digest(utf8("k")));
  }

  @Test
  void manyBytesOfEveryLengthDiffer() {
    DedupScope scope = new DedupScope("g", "t");
    Set<Long> keys = new HashSet<>();
    for (int length = 0; length < 100; length++) {
      byte[] bytes = new byte[length];
      keys.add(scope.digest(bytes));
      for (int i = 0; i < length; i++) {
        bytes[i] = (byte) 0x80;
        keys.add(scope.digest(bytes));
        bytes[i] = 0;
      }
    }
    assertThat(keys).hasSize(100 + 99 * 100 / 2);
  }
}
