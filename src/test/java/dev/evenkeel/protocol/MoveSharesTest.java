package dev.evenkeel.protocol;

import static dev.evenkeel.Loops.times;
import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import net.jqwik.api.Example;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.Size;

class MoveSharesTest {
  private static List<String> names(List<Integer> groups) {
    return groups.stream().map(group -> "g" + group).toList();
  }

  /** As the Javadoc says it, one after another. */
  private static List<Integer> oneByOne(List<String> groups, int max) {
    List<Integer> left = new ArrayList<>();
    times(groups.size(), i -> left.add(i));
    List<Integer> gone = new ArrayList<>();
    while (left.size() > max) {
      int best = -1;
      long most = 0;
      for (int index : left) {
        String group = groups.get(index);
        long count = left.stream().filter(other -> groups.get(other).equals(group)).count();
        if (count > most) {
          most = count;
          best = index;
        }
      }
      left.remove((Integer) best);
      gone.add(best);
    }
    return gone;
  }

  @Property(tries = 500)
  void isTheOldestOfTheLargestEachTime(
      @ForAll @Size(max = 60) List<@IntRange(max = 6) Integer> groups,
      @ForAll @IntRange(max = 60) int max) {
    List<String> names = names(groups);
    assertThat(MoveShares.surplus(names, max)).isEqualTo(oneByOne(names, max));
  }

  /** With k groups and room for k times n, each keeps its last n, whatever the others do. */
  @Property(tries = 500)
  void nobodyPushesOutTheLastOfAnother(
      @ForAll @Size(max = 200) List<@IntRange(max = 4) Integer> groups) {
    List<String> names = names(groups);
    Set<Integer> gone = new HashSet<>(MoveShares.surplus(names, 5 * 4));
    for (String group : Set.copyOf(names)) {
      int newer = 0;
      for (int i = names.size() - 1; i >= 0 && newer < 4; i--) {
        if (names.get(i).equals(group)) {
          newer++;
          assertThat(gone).as("one of the last 4 of %s in %s", group, names).doesNotContain(i);
        }
      }
    }
  }

  @Example
  void theLast200OfTenGroupsStayBesideOneThatMovesMuch() {
    List<String> groups = new ArrayList<>();
    for (int group = 1; group < 10; group++) {
      groups.addAll(Collections.nCopies(200, "g" + group));
    }
    groups.addAll(Collections.nCopies(5_000, "busy"));
    List<Integer> gone = MoveShares.surplus(groups, Limits.MOVES_KEPT_MAX);
    assertThat(gone).hasSize(groups.size() - 2_000).allMatch(i -> groups.get(i).equals("busy"));
  }
}
