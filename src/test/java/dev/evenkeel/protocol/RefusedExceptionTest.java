package dev.evenkeel.protocol;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** A refusal always has words for a person. */
class RefusedExceptionTest {
  @ParameterizedTest
  @EnumSource
  void withoutADetailTheUsualWordsAreSaid(Refusal refusal) {
    assertThat(new RefusedException(refusal, "").words()).hasSizeGreaterThan(20);
    assertThat(new RefusedException(refusal, null).toString())
        .isEqualTo(refusal + ": " + refusal.usualWords());
    assertThat(new RefusedException(refusal, "why it is").words()).isEqualTo("why it is");
  }

  @Test
  void aLeadersIdBecomesASentence() {
    assertThat(new RefusedException(Refusal.NOT_LEADER, "n2").words())
        .isEqualTo("node n2 leads the log group now: try again");
  }
}
