package dev.evenkeel.functional;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** The judge finds what is wrong in made-up walks, and nothing in right ones. */
class WalkCheckTest {
  private static final int RANGE = 3;

  private final List<String> lines = new ArrayList<>();
  private long nanos = 1;

  private WalkCheckTest line(String id, char what, long steps) {
    lines.add(id + " " + what + " " + nanos++ + " " + steps);
    return this;
  }

  private WalkCheckTest steps(String id, int from, int to) {
    for (int i = from; i < to; i++) {
      line(id, 'B', i).line(id, 'A', i + 1);
    }
    return this;
  }

  private List<String> broken() {
    return WalkCheck.of(RANGE, lines).broken();
  }

  @Test
  void theRangeIsAllowedAndOneMoreIsNot() {
    line("a", 'J', 0).line("b", 'J', 0).steps("a", 0, 3).steps("b", 0, 3);
    steps("a", 3, 4);
    assertThat(broken()).isEmpty();
    assertThat(WalkCheck.of(RANGE, lines).gap()).isEqualTo(3);
    steps("a", 4, 7).steps("b", 3, 4).steps("a", 7, 8);
    assertThat(broken()).isNotEmpty().first().asString().startsWith("a was at 7 and b at 3");
  }

  @Test
  void aStepUnderWayMayHaveBeenTaken() {
    line("a", 'J', 0).line("b", 'J', 0).steps("a", 0, 3).line("b", 'B', 0).steps("a", 3, 4);
    line("b", 'A', 1).steps("b", 1, 2);
    assertThat(broken()).as("b may have taken its step before a took its fourth").isEmpty();
  }

  @Test
  void aRefusedStepWasNotTaken() {
    line("a", 'J', 0).line("b", 'J', 0).steps("a", 0, 3).line("b", 'B', 0).line("b", 'R', 0);
    steps("a", 3, 5).steps("b", 0, 2);
    assertThat(broken()).isNotEmpty();
  }

  @Test
  void whoIsDestroyedOrTakesNoStepAnyMoreDoesNotCount() {
    line("a", 'J', 0).line("b", 'J', 0).line("c", 'J', 0).steps("b", 0, 1).line("b", 'D', 1);
    steps("a", 0, 9);
    assertThat(broken()).isEmpty();
    steps("c", 0, 2);
    assertThat(broken()).as("c went on, so it was there all the time").isNotEmpty();
  }

  @Test
  void whoComesBehindTheOthersIsFound() {
    line("a", 'J', 0).steps("a", 0, 9).line("b", 'J', 4).steps("b", 4, 6).steps("a", 9, 10);
    assertThat(broken()).isNotEmpty();
  }
}
