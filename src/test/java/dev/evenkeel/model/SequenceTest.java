package dev.evenkeel.model;

import static org.assertj.core.api.Assertions.assertThat;

import dev.evenkeel.model.Sequence.Op;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

class SequenceTest {
  private static final Set<Step> ALL = EnumSet.allOf(Step.class);

  private static List<Step> ofMachines(long seed) {
    return Sequence.of(seed, ALL).ops().stream().map(Op::step).filter(Step::ofMachines).toList();
  }

  @Test
  void aSeedDecidesEverything() {
    assertThat(Sequence.of(7, ALL))
        .isEqualTo(Sequence.of(7, ALL))
        .isNotEqualTo(Sequence.of(8, ALL));
  }

  @Test
  void onlyWhatIsPossibleIsDrawn() {
    Set<Step> possible = EnumSet.of(Step.CREATE_TOPIC, Step.JOIN, Step.SEND, Step.KILL_NODE);
    LongStream.range(0, 100)
        .forEach(
            seed ->
                assertThat(Sequence.of(seed, possible).ops())
                    .extracting(Op::step)
                    .isSubsetOf(possible));
  }

  /** It takes long. */
  @Test
  void somethingHappensToMachinesOnceAtMost() {
    LongStream.range(0, 200).forEach(seed -> assertThat(ofMachines(seed)).doesNotHaveDuplicates());
  }

  /** Otherwise what is promised only where no member is given up would never be checked. */
  @Test
  void someSeedsInARowLeaveMachinesAlone() {
    long[] calm = LongStream.range(0, 64).filter(seed -> ofMachines(seed).isEmpty()).toArray();
    assertThat(LongStream.of(calm).boxed().toList())
        .containsAll(LongStream.range(0, 16).boxed().toList());
    assertThat(
            LongStream.range(16, 64)
                .flatMap(seed -> ofMachines(seed).stream().mapToLong(Step::ordinal))
                .distinct()
                .count())
        .isEqualTo(ALL.stream().filter(Step::ofMachines).count());
  }

  /** The long form plays so many in its hours: rare settings and steps must meet in them, too. */
  @Test
  void eachPairOfStepsAndSettingsIsDrawnInAFewHundredSequences() {
    Set<Step> possible = EnumSet.allOf(Step.class);
    possible.removeIf(Step::ofSimulation);
    Set<String> names = new TreeSet<>(Kind.SETTINGS);
    possible.forEach(step -> names.add(step.toString()));
    Matrix drawn = new Matrix(names);
    LongStream.range(0, 350).forEach(seed -> drawn.add(names(Sequence.of(seed, possible))));
    assertThat(drawn.below(20)).isEmpty();
  }

  private static Set<String> names(Sequence sequence) {
    Set<String> names = new TreeSet<>();
    for (Op op : sequence.ops()) {
      names.add(op.step().toString());
      if (op.step() == Step.JOIN && op.a() % 2 == 0) {
        names.addAll(Kind.of(op.b()).settings());
      }
    }
    return names;
  }

  /** Steps are left out as long as it fails. */
  @Test
  void aSequenceShrinksToWhatFails() {
    Sequence failing = Sequence.of(20, ALL);
    Sequence shrunk =
        failing.shrunk(
            fewer -> fewer.ops().stream().anyMatch(op -> op.step() == Step.JOIN), any -> true);
    assertThat(shrunk.ops()).extracting(Op::step).containsExactly(Step.JOIN);
  }
}
