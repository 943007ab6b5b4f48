package dev.evenkeel.history;

import static org.assertj.core.api.Assertions.assertThat;

import dev.evenkeel.history.Linearizer.Op;
import dev.evenkeel.history.Linearizer.Verdict;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** The search, over a register with one number. */
class LinearizerTest {
  private final List<Op<Integer>> ops = new ArrayList<>();

  private void write(long from, long until, int value) {
    ops.add(new Op<>(from, until, before -> value));
  }

  private void read(long from, long until, int value) {
    ops.add(new Op<>(from, until, before -> before == value ? before : null));
  }

  private boolean linearizable() {
    return Linearizer.check(0, ops).linearizable();
  }

  @Test
  void whatCameOneAfterAnotherIsInThatOrder() {
    write(1, 2, 5);
    read(3, 4, 5);
    write(5, 6, 7);
    read(7, 8, 7);
    assertThat(Linearizer.check(0, ops).order()).containsExactly(0, 1, 2, 3);
  }

  @Test
  void aReadThatShowsWhatWasOverwrittenBeforeItIsFound() {
    write(1, 2, 5);
    write(3, 4, 7);
    read(5, 6, 5);
    Verdict<Integer> verdict = Linearizer.check(0, ops);
    assertThat(verdict.linearizable()).isFalse();
    assertThat(verdict.order()).containsExactly(0, 1);
    assertThat(verdict.stuck()).containsExactly(2);
    assertThat(verdict.state()).isEqualTo(7);
  }

  @Test
  void ofTwoAtOnceEitherMayBeFirst() {
    write(1, 10, 5);
    write(2, 9, 7);
    read(11, 12, 5);
    assertThat(linearizable()).isTrue();
    read(13, 14, 7);
    assertThat(linearizable()).isFalse();
  }

  @Test
  void twoReadersMustAgreeOnTheOrderOfTwoWrites() {
    write(1, 20, 5);
    write(2, 19, 7);
    read(3, 4, 5);
    read(5, 6, 7);
    assertThat(linearizable()).isTrue();
    read(7, 8, 5);
    assertThat(linearizable()).isFalse();
  }

  @Test
  void whatWasNeverAnsweredMayTakeEffectLateOrNever() {
    write(1, Linearizer.UNKNOWN, 5);
    read(2, 3, 0);
    assertThat(linearizable()).isTrue();
    read(100, 101, 5);
    assertThat(linearizable()).isTrue();
    read(102, 103, 0);
    assertThat(linearizable()).as("it took effect twice, or went back").isFalse();
  }

  @Test
  void whatWasNeverAnsweredDoesNotTakeEffectBeforeItWasSent() {
    read(1, 2, 5);
    write(3, Linearizer.UNKNOWN, 5);
    assertThat(linearizable()).isFalse();
  }

  @Test
  void theSearchGoesBackOverAWrongChoiceMadeLongBefore() {
    // Of the two writes at once the second must be first, which only the end shows.
    write(1, 100, 5);
    write(2, 101, 7);
    for (int i = 1; i <= 40; i++) {
      ops.add(new Op<>(200 + 2 * i, 201 + 2 * i, before -> before + 1));
    }
    read(400, 401, 45);
    assertThat(linearizable()).isTrue();
    assertThat(Linearizer.check(0, ops).order().subList(0, 2)).containsExactly(1, 0);
  }

  @Test
  void manyOfUnknownOutcomeDoNotMakeItSlow() {
    for (int i = 0; i < 200; i++) {
      write(1, Linearizer.UNKNOWN, 1000 + i);
      write(10 + 2 * i, 11 + 2 * i, i);
      read(10_000 + i, 20_000 + i, 199);
    }
    assertThat(linearizable()).isTrue();
  }
}
