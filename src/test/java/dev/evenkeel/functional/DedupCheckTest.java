package dev.evenkeel.functional;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;

class DedupCheckTest {
  private static DedupCheck check(String... lines) {
    return new DedupCheck(List.of(lines));
  }

  @Test
  void oneRunAfterAnotherIsWell() {
    DedupCheck check =
        check("P k -", "S k a", "P k -", "P l -", "S l b", "E k a", "S k b", "E l b", "E k b");
    assertThat(check.overlaps()).isEmpty();
    assertThat(check.missed()).isEmpty();
    assertThat(check.runs()).isEqualTo(3);
    assertThat(check.keys()).isEqualTo(2);
    assertThat(check.members()).containsExactlyInAnyOrder("a", "b");
  }

  @Test
  void twoAtOnceAreFound() {
    assertThat(check("P k -", "S k a", "S k b", "E k a", "E k b").overlaps()).hasSize(1);
    assertThat(check("P k -", "S k a", "S k a", "E k a", "E k a").overlaps()).hasSize(1);
  }

  @Test
  void aMessageWithoutALaterRunIsFound() {
    assertThat(check("P k -", "S k a", "P k -", "E k a").missed()).containsExactly("k");
    assertThat(check("P k -", "S k a").missed()).containsExactly("k");
    assertThat(check("P k -").missed()).containsExactly("k");
  }

  @Test
  void whatAKilledMemberHadBegunNeitherCountsNorHinders() {
    DedupCheck check = check("P k -", "S k a", "K - a", "S k b", "E k a", "E k b");
    assertThat(check.overlaps()).isEmpty();
    assertThat(check.missed()).isEmpty();
    assertThat(check("P k -", "S k a", "K - a", "E k a").missed()).containsExactly("k");
  }
}
