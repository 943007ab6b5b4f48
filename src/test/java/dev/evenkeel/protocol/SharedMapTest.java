package dev.evenkeel.protocol;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.IntStream;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.Size;
import org.junit.jupiter.api.Test;

class SharedMapTest {
  private record Counting(int number, int[] compared) implements Comparable<Counting> {
    @Override
    public int compareTo(Counting other) {
      compared[0]++;
      return Integer.compare(number, other.number);
    }

    /** As strangers may choose names of topics. */
    @Override
    public int hashCode() {
      return 7;
    }

    @Override
    public boolean equals(Object other) {
      return other instanceof Counting of && of.number == number;
    }
  }

  /** Also each former map is as it was: nobody sees the changes of others. */
  @Property(tries = 200)
  void isAsASortedMapOfItsOwn(
      @ForAll @Size(max = 60) List<@IntRange(min = -20, max = 20) Integer> steps) {
    SharedMap<Integer, Integer> map = SharedMap.<Integer, Integer>of(Map.of());
    TreeMap<Integer, Integer> model = new TreeMap<>();
    List<SharedMap<Integer, Integer>> maps = new ArrayList<>();
    List<Map<Integer, Integer>> models = new ArrayList<>();
    for (int i = 0; i < steps.size(); i++) {
      int key = Math.abs(steps.get(i));
      if (steps.get(i) < 0) {
        map = map.without(key);
        model.remove(key);
      } else {
        map = map.with(key, i);
        model.put(key, i);
      }
      maps.add(map);
      models.add(new TreeMap<>(model));
    }
    maps.add(SharedMap.of(new HashMap<>(model)));
    models.add(model);
    maps.add(SharedMap.of(model).with(7, 7).without(3));
    TreeMap<Integer, Integer> changed = new TreeMap<>(model);
    changed.put(7, 7);
    changed.remove(3);
    models.add(changed);
    for (int i = 0; i < maps.size(); i++) {
      SharedMap<Integer, Integer> each = maps.get(i);
      Map<Integer, Integer> same = models.get(i);
      assertThat(each).isEqualTo(same).hasSize(same.size());
      assertThat(each.keySet()).containsExactlyElementsOf(same.keySet());
      IntStream.rangeClosed(0, 20)
          .forEach(key -> assertThat(each.get(key)).isEqualTo(same.get(key)));
    }
    assertThat(SharedMap.of(model).toString()).isEqualTo(model.toString());
  }

  /**
   * Neither sorted keys nor equal hashes may make a list of it: each change would then cost as much
   * as a copy.
   */
  @Test
  void aChangeCostsLittleInALargeMap() {
    int[] compared = {0};
    SharedMap<Counting, Integer> map = SharedMap.<Counting, Integer>of(Map.of());
    for (int i = 0; i < 10_000; i++) {
      map = map.with(new Counting(i, compared), i);
    }
    assertThat(compared[0]).isLessThan(10_000 * 60);
    compared[0] = 0;
    map = map.without(new Counting(5_000, compared)).with(new Counting(20_000, compared), 0);
    assertThat(map).hasSize(10_000);
    assertThat(compared[0]).isLessThan(300);

    TreeMap<Counting, Integer> sorted = new TreeMap<>(map);
    compared[0] = 0;
    map = SharedMap.of(sorted);
    assertThat(compared[0]).as("in one pass").isLessThan(10_000);
    compared[0] = 0;
    map = map.without(new Counting(6_000, compared)).with(new Counting(20_001, compared), 0);
    assertThat(map).hasSize(10_000);
    assertThat(compared[0]).isLessThan(300);
  }
}
