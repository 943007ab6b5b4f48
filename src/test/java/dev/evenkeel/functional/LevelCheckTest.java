package dev.evenkeel.functional;

import static dev.evenkeel.Loops.times;
import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** The checker finds what is wrong in made-up files, and nothing in right ones. */
class LevelCheckTest {
  private static final int RANGE = 3;

  private final List<String> lines = new ArrayList<>();
  private int message;

  private LevelCheckTest ends(String member, int times) {
    times(times, i -> lines.add(member + " 0/" + message++));
    return this;
  }

  private LevelCheckTest marks(String what, String member) {
    lines.add("! " + what + " " + member);
    return this;
  }

  private LevelCheck check(String... fromStart) {
    return new LevelCheck(RANGE, Set.of(fromStart), lines);
  }

  @Test
  void theRangeIsAllowedAndOneMoreIsNotAtAnyPrefix() {
    ends("a", 3).ends("b", 6).ends("a", 3);
    assertThat(check("a", "b").broken()).isEmpty();
    assertThat(check("a", "b").gap()).isEqualTo(3);
    ends("a", 4).ends("b", 4);
    assertThat(check("a", "b").broken())
        .containsExactly("a and b differ by 4, too much in line 16");
  }

  @Test
  void aMemberThatWritesNothingIsComparedToo() {
    ends("a", 4);
    assertThat(check("a", "b").broken()).hasSize(1);
  }

  @Test
  void whoNeverJoinedIsFound() {
    ends("a", 1).ends("ghost", 1);
    assertThat(check("a").broken()).containsExactly("ghost writes line 2 and never joined");
  }

  @Test
  void aNewcomerCountsFromSomePlaceBetweenItsMarkAndItsFirstLine() {
    ends("a", 100).marks("join", "b").ends("a", 50).ends("b", 1).ends("a", 4);
    assertThat(check("a").broken()).as("joined just before its first line").isEmpty();
    ends("a", 1);
    assertThat(check("a").broken()).as("one too many wherever it joined").hasSize(1);
  }

  @Test
  void onePlaceMustDoForBothSides() {
    // Joined early: a is 5 ahead. Joined late: b gets 5 ahead. There is no place between.
    ends("a", 1).marks("join", "b").ends("b", 1).ends("a", 4).ends("b", 8);
    assertThat(check("a").broken()).hasSize(1);
  }

  @Test
  void whoIsOutDoesNotBindTheOthersAndItsLinesStillCountAsDone() {
    ends("a", 3).marks("out", "b").ends("a", 100).ends("b", 30);
    LevelCheck check = check("a", "b");
    assertThat(check.broken()).isEmpty();
    assertThat(check.distinct()).isEqualTo(133);
    assertThat(check.finished()).containsEntry("b", 30);
  }

  @Test
  void whoComesBackMayFirstEndWhatItHadInHandAndIsThenBound() {
    ends("a", 1).marks("out", "b").ends("a", 50).marks("back", "b").ends("b", RANGE).ends("a", 20);
    ends("b", 1).ends("a", 4);
    assertThat(check("a", "b").broken()).isEmpty();
    ends("a", 1);
    assertThat(check("a", "b").broken()).hasSize(1);
  }

  @Test
  void aFormerStayDoesNotExcuseTheNext() {
    ends("a", 2).marks("out", "b").marks("join", "b").ends("b", 1).ends("a", 5);
    assertThat(check("a", "b").broken()).hasSize(1);
  }

  @Test
  void whoMayHaveBeenLostCameBackOrWasThereAllTheTime() {
    ends("a", 3).marks("maybe", "b");
    List<String> before = List.copyOf(lines);
    ends("b", RANGE + 1).ends("b", 2);
    assertThat(check("a", "b").broken()).as("still bound to the beginning").isEmpty();
    lines.clear();
    lines.addAll(before);
    ends("a", 5).ends("b", RANGE + 1).ends("a", 1);
    assertThat(check("a", "b").broken()).as("lost, and back after a's five").isEmpty();
    ends("b", 2 * RANGE + 2);
    assertThat(check("a", "b").broken()).as("neither").hasSize(1);
  }

  @Test
  void whoMayHaveBeenLostTwiceIsBoundToAnyOfItsPlaces() {
    ends("a", 2).marks("maybe", "b").ends("a", 10).marks("maybe", "b");
    ends("b", RANGE + 1).ends("b", RANGE - 1);
    assertThat(check("a", "b").broken()).isEmpty();
    ends("b", 1);
    assertThat(check("a", "b").broken()).hasSize(1);
  }

  @Test
  void doubtAboutOneExcusesNoOther() {
    ends("a", 4).marks("maybe", "b").ends("b", 2);
    assertThat(check("a", "b").broken()).as("broken before the doubt").hasSize(1);
    lines.clear();
    marks("maybe", "c").ends("a", 4);
    assertThat(check("a", "b", "c").broken()).hasSize(1);
  }

  @Test
  void repeatedAndLostMessagesAreCounted() {
    lines.addAll(List.of("a 0/1", "b 0/2", "a 0/2", "b 1/1"));
    LevelCheck check = check("a", "b");
    assertThat(check.distinct()).isEqualTo(3);
    assertThat(check.repeated()).isEqualTo(1);
  }

  /**
   * A right dispatcher, members that come and go, and joins that the file does not show at once.
   */
  @Test
  void filesOfARightDispatcherPassAndOneStepTooManyDoesNot() {
    long seed = System.nanoTime();
    Random random = new Random(seed);
    boolean[] live = {true, true, false, false, false};
    // How far one is ahead of another since the later of them joined.
    int[][] ahead = new int[live.length][live.length];
    for (int step = 0; step < 20_000; step++) {
      int one = random.nextInt(live.length);
      if (!live[one] && random.nextInt(50) == 0) {
        marks("join", "m" + one);
        live[one] = true;
        for (int other = 0; other < live.length; other++) {
          ahead[one][other] = 0;
          ahead[other][one] = 0;
        }
      } else if (live[one] && random.nextInt(200) == 0) {
        live[one] = false;
        marks("out", "m" + one);
      } else if (live[one] && mayEnd(one, ahead, live)) {
        for (int other = 0; other < live.length; other++) {
          ahead[one][other]++;
          ahead[other][one]--;
        }
        ends("m" + one, 1);
      }
    }
    assertThat(check("m0", "m1").broken()).as("seed " + seed).isEmpty();
    for (int one = 0; one < live.length; one++) {
      if (!live[one]) {
        marks("join", "m" + one);
      }
    }
    // All show themselves, and then one runs away.
    times(live.length, one -> ends("m" + one, 1));
    ends("m0", 2 * RANGE + 1);
    assertThat(check("m0", "m1").broken()).as("seed " + seed).isNotEmpty();
  }

  private static boolean mayEnd(int one, int[][] ahead, boolean[] live) {
    for (int other = 0; other < live.length; other++) {
      if (other != one && live[other] && ahead[one][other] >= RANGE) {
        return false;
      }
    }
    return true;
  }
}
