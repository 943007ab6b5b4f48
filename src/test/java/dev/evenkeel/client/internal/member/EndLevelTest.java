package dev.evenkeel.client.internal.member;

import static org.assertj.core.api.Assertions.assertThat;

import dev.evenkeel.protocol.Names;
import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.RefusedException;
import org.junit.jupiter.api.Test;
import org.slf4j.event.Level;

class EndLevelTest {
  private static final RefusedException REPLACED =
      new RefusedException(Refusal.MEMBER_REPLACED, "by another");

  @Test
  void aMemberThatEndsAgainstItsWillIsAWarning() {
    assertThat(ConsumerShell.levelOfEnd("a", REPLACED)).isEqualTo(Level.WARN);
  }

  /** Each time the dispatcher moves. */
  @Test
  void aReplacedDispatcherIsNormal() {
    String dispatcher = Names.DISPATCHER_HOLDER + "n1";
    assertThat(ConsumerShell.levelOfEnd(dispatcher, REPLACED)).isEqualTo(Level.INFO);
    assertThat(
            ConsumerShell.levelOfEnd(
                dispatcher, new RefusedException(Refusal.GROUP_MISMATCH, "another mode")))
        .isEqualTo(Level.WARN);
  }
}
