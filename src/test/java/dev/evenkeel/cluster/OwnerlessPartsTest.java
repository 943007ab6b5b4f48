package dev.evenkeel.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class OwnerlessPartsTest {
  private final OwnerlessParts parts = new OwnerlessParts();

  @Test
  void what_was_never_complete_is_only_young() {
    assertThat(parts.stuck(false, true, 0)).isFalse();
    assertThat(parts.stuck(false, true, 1_000_000)).isFalse();
  }

  @Test
  void the_oldest_gives_way_before_the_others() {
    parts.stuck(true, true, 0);
    assertThat(parts.stuck(false, true, 1_000)).isFalse();
    assertThat(parts.stuck(false, true, 12_999)).isFalse();
    assertThat(parts.stuck(false, true, 13_000)).isTrue();

    OwnerlessParts other = new OwnerlessParts();
    other.stuck(true, false, 0);
    assertThat(other.stuck(false, false, 1_000)).isFalse();
    assertThat(other.stuck(false, false, 45_999)).isFalse();
    assertThat(other.stuck(false, false, 46_000)).isTrue();
  }

  @Test
  void who_becomes_the_oldest_has_the_oldests_time_from_then_on() {
    parts.stuck(true, false, 0);
    parts.stuck(false, false, 1_000);
    assertThat(parts.stuck(false, false, 14_000)).isFalse();
    assertThat(parts.stuck(false, true, 15_000)).isFalse();
    assertThat(parts.stuck(false, true, 26_999)).isFalse();
    assertThat(parts.stuck(false, true, 27_000)).isTrue();
  }

  @Test
  void it_begins_anew_whenever_all_have_owners() {
    parts.stuck(true, true, 0);
    parts.stuck(false, true, 1_000);
    parts.stuck(true, true, 12_000);
    assertThat(parts.stuck(false, true, 14_000)).isFalse();
    assertThat(parts.stuck(false, true, 25_999)).isFalse();
    assertThat(parts.stuck(false, true, 26_000)).isTrue();
  }
}
