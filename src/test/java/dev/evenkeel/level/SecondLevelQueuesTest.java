package dev.evenkeel.level;

import static dev.evenkeel.Loops.times;
import static org.assertj.core.api.Assertions.assertThat;

import dev.evenkeel.Fails;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeSet;
import net.jqwik.api.Example;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;

/** The dispatcher with a bounded queue for each consumer. */
class SecondLevelQueuesTest {

  @Example
  void dealsRoundRobinAndWaitsForWhoIsFull() {
    ArrayDeque<Integer> source = new ArrayDeque<>(List.of(1, 2, 3, 4, 5, 6));
    SecondLevelQueues<Integer> queues = new SecondLevelQueues<>(source, 2);
    assertThat(queues.distribute(10)).isZero();
    SecondLevelQueues.Consumer<Integer> a = queues.consumer("a");
    SecondLevelQueues.Consumer<Integer> b = queues.consumer("b");
    assertThat(queues.distribute(10)).isEqualTo(4);
    assertThat(queues.holder()).isSameAs(a);
    assertThat(b.poll()).isEqualTo(2);
    assertThat(queues.distribute(10)).isZero();
    assertThat(a.poll()).isEqualTo(1);
    assertThat(queues.holder()).isNull();
    assertThat(queues.distribute(1)).isEqualTo(1);
    queues.leave(a);
    queues.leave(a);
    assertThat(queues.distribute(10)).isEqualTo(1);
    assertThat(List.of(b.poll(), b.poll())).containsExactly(4, 3);
    assertThat(queues.distribute(10)).isEqualTo(2);
    assertThat(List.of(b.poll(), b.poll())).containsExactly(5, 6);
    assertThat(a.name() + b.name()).isEqualTo("ab");
    Fails.with(IllegalArgumentException.class, () -> new SecondLevelQueues<>(source, 0));
  }

  @Property(tries = 500)
  void consumersStayLevelAndNothingIsLost(
      @ForAll long seed, @ForAll @IntRange(min = 1, max = 8) int capacity) {
    Random random = new Random(seed);
    ArrayDeque<Integer> source = new ArrayDeque<>();
    times(300, i -> source.add(i));
    SecondLevelQueues<Integer> queues = new SecondLevelQueues<>(source, capacity);
    List<SecondLevelQueues.Consumer<Integer>> first = new ArrayList<>();
    Map<SecondLevelQueues.Consumer<Integer>, Integer> taken = new HashMap<>();
    for (int i = 0; i < 4; i++) {
      first.add(queues.consumer("c" + i));
      taken.put(first.get(i), 0);
    }
    TreeSet<Integer> all = new TreeSet<>();
    while (all.size() < 300) {
      queues.distribute(1 + random.nextInt(5));
      SecondLevelQueues.Consumer<Integer> one = first.get(random.nextInt(first.size()));
      Integer element = one.poll();
      if (element != null) {
        assertThat(all.add(element)).isTrue();
        taken.merge(one, 1, Integer::sum);
      }
      if (first.size() > 1 && random.nextInt(200) == 0) {
        queues.leave(one);
        first.remove(one);
      }
      int most = first.stream().mapToInt(taken::get).max().orElseThrow();
      int least = first.stream().mapToInt(taken::get).min().orElseThrow();
      assertThat(most - least).isLessThanOrEqualTo(capacity + 1);
    }
  }
}
