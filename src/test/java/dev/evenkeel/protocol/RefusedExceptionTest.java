package dev.evenkeel.protocol;

import static org.assertj.core.api.Assertions.assertThat;

import dev.evenkeel.protocol.RefusedException.QuotaReached;
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

  @Test
  void whatProgramsReadOfARefusalTravelsInItsText() {
    RefusedException elsewhere = received(new RefusedException.NotLeader("n2"));
    assertThat(((RefusedException.NotLeader) elsewhere).leader()).isEqualTo("n2");
    assertThat(elsewhere).hasMessage("n2");
    RefusedException nobody = received(new RefusedException.NotLeader(null));
    assertThat(((RefusedException.NotLeader) nobody).leader()).isNull();
    assertThat(nobody).hasMessage("");
    RefusedException range = received(new RefusedException.OutOfRange(5, 70));
    assertThat(((RefusedException.OutOfRange) range).start()).isEqualTo(5);
    assertThat(((RefusedException.OutOfRange) range).end()).isEqualTo(70);
    assertThat(range).hasMessage("5..70");
  }

  /** Programs of all versions read the text; a person reads the words, in seconds rounded up. */
  @Test
  void aQuotaIsSaidInUnitsThatPeopleRead() {
    RefusedException one = QuotaReached.of("the quota of topic 't' is used up", 3_001, 1, 1);
    assertThat(one)
        .hasMessage(
            "the quota of topic 't' is used up: try again after 3001 ms, with at most 1 messages"
                + " and 1 bytes at once");
    String words =
        "the quota of topic 't' is used up: try again after 4 s, with at most 1 message and 1 byte"
            + " at once";
    assertThat(one.words()).isEqualTo(words);
    assertThat(received(one).words()).isEqualTo(words);
    QuotaReached said = (QuotaReached) RefusedException.received(Refusal.OVERLOADED, words);
    assertThat(said.retryAfterMillis()).isEqualTo(4_000);
    assertThat(said.messagesMax()).isEqualTo(1);
    assertThat(said.bytesMax()).isEqualTo(1);
    assertThat(QuotaReached.of("it", 999, 2, Long.MAX_VALUE).words())
        .isEqualTo("it: try again after 999 ms, with at most 2 messages at once");
    assertThat(QuotaReached.of("it", 1_000, Long.MAX_VALUE, 20).words())
        .isEqualTo("it: try again after 1 s, with at most 20 bytes at once");
    assertThat(QuotaReached.of("it", 0, Long.MAX_VALUE, Long.MAX_VALUE).words())
        .isEqualTo("it: try again after 1 ms");
  }

  @Test
  void aTextForPeopleHasNoFields() {
    for (String text :
        new String[] {"offset 9: the shard has 1 to 5, the next message", "", null}) {
      assertThat(RefusedException.received(Refusal.OFFSET_OUT_OF_RANGE, text))
          .isNotInstanceOf(RefusedException.OutOfRange.class)
          .hasMessage(text);
    }
    assertThat(RefusedException.received(Refusal.NOT_LEADER, "this is no node"))
        .isNotInstanceOf(RefusedException.NotLeader.class);
    assertThat(RefusedException.received(Refusal.INVALID, "1..2"))
        .isNotInstanceOf(RefusedException.OutOfRange.class);
  }

  private static RefusedException received(RefusedException sent) {
    return RefusedException.received(sent.refusal(), sent.getMessage());
  }
}
