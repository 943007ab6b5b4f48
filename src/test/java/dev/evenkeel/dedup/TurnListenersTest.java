package dev.evenkeel.dedup;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.evenkeel.protocol.RefusedException;
import org.junit.jupiter.api.Test;

class TurnListenersTest {
  private static final int NUMBERS = 1 << 15;
  private static final SharedAutomata.Turns NOBODY = (key, token, waitsUntilMillis) -> {};

  private final TurnListeners listeners = new TurnListeners();

  @Test
  void aNumberInUseIsNotGivenToAnother() {
    int kept = listeners.add(NOBODY);
    for (int i = 0; i < NUMBERS; i++) {
      int next = listeners.add(NOBODY);
      assertThat(next).isNotEqualTo(kept);
      listeners.remove(next);
    }
  }

  @Test
  void withoutAFreeNumberItRefuses() {
    for (int i = 0; i < NUMBERS; i++) {
      listeners.add(NOBODY);
    }
    assertThatThrownBy(() -> listeners.add(NOBODY)).isInstanceOf(RefusedException.class);
    listeners.remove(7);
    assertThat(listeners.add(NOBODY)).isEqualTo(7);
  }
}
