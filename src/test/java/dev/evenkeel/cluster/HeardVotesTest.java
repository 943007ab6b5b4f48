package dev.evenkeel.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

/** The answers of nodes to one round of questions. */
class HeardVotesTest {
  private final HeardRounds.Votes votes = new HeardRounds.Votes();
  private int asked;

  private void expect(int answers, int more) {
    votes.expect(answers, more, () -> asked++);
  }

  private void isOpen() {
    assertThat(votes.majority).isNotDone();
  }

  @Test
  void aMajorityIsEnough() {
    expect(2, 1);
    votes.answer(3);
    isOpen();
    votes.answer(3);
    assertThat(votes.majority).isCompleted();
    votes.askOthers();
    assertThat(asked).isZero();
    assertThat(votes.voters()).isEqualTo(3);
  }

  @Test
  void ifOneDoesNotSayYesTheOthersAreAskedAtOnce() {
    expect(2, 1);
    votes.answer(3);
    votes.answer(0);
    isOpen();
    assertThat(asked).isOne();
    votes.answer(3);
    assertThat(votes.majority).isCompleted();
  }

  @Test
  void ifOneIsLateTheOthersAreAskedOnce() {
    expect(2, 1);
    votes.answer(3);
    votes.askOthers();
    votes.askOthers();
    assertThat(asked).isOne();
    votes.answer(0);
    isOpen();
    votes.answer(3);
    assertThat(votes.majority).isCompleted();
  }

  @Test
  void aNodeMayKnowOfMoreThatVote() {
    expect(2, 3);
    votes.answer(3);
    votes.answer(5);
    isOpen();
    assertThat(asked).isOne();
    votes.answer(0);
    votes.answer(5);
    assertThat(votes.majority).isCompleted();
  }

  @Test
  void withoutAMajorityItFailsAtTheLastAnswer() {
    expect(2, 1);
    votes.answer(3);
    votes.answer(0);
    votes.answer(0);
    assertThat(votes.majority).isCompletedExceptionally();
    assertThat(asked).isOne();
  }

  /** Members that do not vote say 0. */
  @Test
  void nobodyVotes() {
    expect(2, 0);
    votes.answer(0);
    isOpen();
    votes.answer(0);
    assertThat(votes.majority).isCompletedExceptionally();
  }
}
