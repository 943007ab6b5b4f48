package dev.evenkeel.bus;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class SessionIdsTest {
  @Test
  void aSessionIsToldFromOthersWithoutItsId() {
    String one = "s-" + "1".repeat(32);
    assertThat(SessionIds.shown(one))
        .matches("session-[0-9a-f]{16}")
        .isEqualTo(SessionIds.shown(one))
        .isNotEqualTo(SessionIds.shown("s-" + "2".repeat(32)));
    assertThat(SessionIds.shown("6f8d0b1e-member")).isEqualTo("6f8d0b1e-member");
    assertThat(SessionIds.shown(null)).isNull();
  }
}
