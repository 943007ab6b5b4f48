package dev.evenkeel.broker.node;

import static dev.evenkeel.broker.node.MendDecision.Verdict.LATER;
import static dev.evenkeel.broker.node.MendDecision.Verdict.LOST;
import static dev.evenkeel.broker.node.MendDecision.Verdict.REPLACE;
import static org.assertj.core.api.Assertions.assertThat;

import dev.evenkeel.bus.BodyAnswer;
import dev.evenkeel.bus.BodyAnswer.Have;
import dev.evenkeel.protocol.wire.ByteReader;
import dev.evenkeel.storage.segment.RecordHeader;
import java.nio.ByteBuffer;
import java.util.List;
import org.junit.jupiter.api.Test;

class MendDecisionTest {
  private static final long INDEX = 10;
  private static final long APPLIED = 20;
  private static final ByteBuffer BODY = ByteBuffer.wrap(new byte[] {1, 2, 3});
  private static final RecordHeader OWN = RecordHeader.of(INDEX, 4, BODY);

  private static BodyAnswer whole(long term, long applied) {
    return new BodyAnswer(Have.WHOLE, applied, term, BODY);
  }

  private static MendDecision.Verdict verdict(RecordHeader own, int others, BodyAnswer... answers) {
    return MendDecision.of(INDEX, own, APPLIED, INDEX, others, List.of(answers)).verdict();
  }

  @Test
  void aBodyOfTheSameEntryIsTaken() {
    BodyAnswer good = whole(4, APPLIED);
    assertThat(MendDecision.of(INDEX, OWN, APPLIED, INDEX, 2, List.of(good)))
        .isEqualTo(new MendDecision(REPLACE, good, -1));
    assertThat(verdict(OWN, 2, BodyAnswer.without(Have.DAMAGED, APPLIED), good)).isEqualTo(REPLACE);
    // Our own header says which entry it was, even if it is not applied.
    assertThat(verdict(OWN, 2, whole(4, INDEX - 1))).isEqualTo(REPLACE);
  }

  @Test
  void aBodyOfAnotherEntryIsNot() {
    assertThat(verdict(OWN, 1, whole(5, APPLIED))).isEqualTo(LOST);
    RecordHeader other = RecordHeader.of(INDEX, 4, ByteBuffer.wrap(new byte[] {1, 2, 4}));
    assertThat(verdict(other, 1, whole(4, APPLIED))).isEqualTo(LOST);
  }

  @Test
  void withoutAHeaderOnlyAppliedEntriesAreKnownToBeTheSame() {
    assertThat(verdict(null, 1, whole(5, INDEX))).isEqualTo(REPLACE);
    assertThat(verdict(null, 1, whole(5, INDEX - 1))).isEqualTo(LATER);
    assertThat(
            MendDecision.of(INDEX, null, INDEX - 1, INDEX, 1, List.of(whole(5, APPLIED))).verdict())
        .isEqualTo(LATER);
  }

  /** What another node has left of the body is what every state needs that has applied as much. */
  @Test
  void aPartIsTakenIfTheLogHasDroppedTheEntry() {
    BodyAnswer part = new BodyAnswer(Have.PART, APPLIED, 4, BODY);
    RecordHeader ownPart = new RecordHeader(INDEX, 4, 3, 7, true);
    for (RecordHeader own : new RecordHeader[] {OWN, null, ownPart}) {
      assertThat(dropped(own, part)).isEqualTo(REPLACE);
      assertThat(verdict(own, 1, part)).as("the log may send it").isEqualTo(LATER);
      BodyAnswer later = new BodyAnswer(Have.PART, APPLIED + 1, 4, BODY);
      assertThat(dropped(own, later)).as("it may lack what we still need").isEqualTo(LATER);
      assertThat(MendDecision.of(INDEX, own, APPLIED, INDEX + 1, 1, List.of(later)).awaitedIndex())
          .isEqualTo(APPLIED + 1);
      assertThat(MendDecision.of(INDEX, own, APPLIED + 1, INDEX + 1, 1, List.of(later)))
          .isEqualTo(new MendDecision(REPLACE, later, -1));
    }
    assertThat(dropped(ownPart, whole(4, APPLIED))).isEqualTo(REPLACE);
  }

  private static MendDecision.Verdict dropped(RecordHeader own, BodyAnswer answer) {
    return MendDecision.of(INDEX, own, APPLIED, INDEX + 1, 1, List.of(answer)).verdict();
  }

  @Test
  void nothingIsLostBeforeEveryNodeHasAnswered() {
    BodyAnswer damaged = BodyAnswer.without(Have.DAMAGED, APPLIED);
    assertThat(verdict(OWN, 2)).isEqualTo(LATER);
    assertThat(verdict(OWN, 2, damaged)).isEqualTo(LATER);
    assertThat(verdict(OWN, 2, damaged, damaged)).isEqualTo(LOST);
    assertThat(verdict(OWN, 0)).isEqualTo(LOST);
  }

  @Test
  void aNodeThatIsAheadMayHaveDroppedTheBodyAndOneThatIsBehindMayGetIt() {
    assertThat(verdict(OWN, 1, BodyAnswer.without(Have.MISSING, APPLIED))).isEqualTo(LOST);
    assertThat(verdict(OWN, 1, BodyAnswer.without(Have.MISSING, APPLIED + 1))).isEqualTo(LATER);
    assertThat(verdict(OWN, 1, BodyAnswer.without(Have.MISSING, INDEX - 1))).isEqualTo(LATER);
    BodyAnswer ahead = BodyAnswer.without(Have.MISSING, APPLIED + 5);
    BodyAnswer farAhead = BodyAnswer.without(Have.MISSING, APPLIED + 9);
    assertThat(MendDecision.of(INDEX, OWN, APPLIED, INDEX, 2, List.of(farAhead, ahead)))
        .isEqualTo(new MendDecision(LATER, null, APPLIED + 5));
    assertThat(MendDecision.of(INDEX, OWN, APPLIED + 5, INDEX, 2, List.of(farAhead, ahead)))
        .isEqualTo(new MendDecision(LATER, null, APPLIED + 9));
    assertThat(MendDecision.of(INDEX, OWN, APPLIED + 9, INDEX, 2, List.of(farAhead, ahead)))
        .isEqualTo(new MendDecision(LOST, null, -1));
  }

  @Test
  void anAnswerIsReadAsItWasWritten() {
    BodyAnswer good = whole(4, APPLIED);
    assertThat(BodyAnswer.decode(new ByteReader(good.encode().view()))).isEqualTo(good);
    BodyAnswer none = BodyAnswer.without(Have.MISSING, APPLIED);
    assertThat(BodyAnswer.decode(new ByteReader(none.encode().view()))).isEqualTo(none);
  }
}
