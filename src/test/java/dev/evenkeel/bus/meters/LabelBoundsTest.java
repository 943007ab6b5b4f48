package dev.evenkeel.bus.meters;

import static dev.evenkeel.Loops.times;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.AlphaChars;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.Size;
import net.jqwik.api.constraints.StringLength;

class LabelBoundsTest {
  @Property
  void neverMoreNamesThanAllowedAndNothingIsLost(
      @ForAll @IntRange(max = 5) int max,
      @ForAll @Size(max = 40) List<@AlphaChars @StringLength(min = 1, max = 2) String> labels) {
    LabelLimit limit = new LabelLimit(max);
    Rows rows = new Rows(max + 1);
    Map<String, String> names = new HashMap<>();
    for (String label : labels) {
      String name = limit.of(label);
      assertThat(names.putIfAbsent(label, name)).as("a name never changes").isIn(null, name);
      assertThat(name).isIn(label, LabelLimit.OTHER);
      rows.add(1, name);
    }
    Set<String> shown = new HashSet<>(names.values());
    shown.remove(LabelLimit.OTHER);
    assertThat(shown.size()).isEqualTo(Math.min(max, new HashSet<>(labels).size()));
    assertThat(rows.sums()).hasSizeLessThanOrEqualTo(max + 1);
    assertThat(rows.sums().values().stream().mapToDouble(each -> each).sum())
        .isCloseTo(labels.size(), within(1e-9));
  }

  @Property
  void whatIsGoneMakesRoom(@ForAll @IntRange(min = 1, max = 5) int max) {
    LabelLimit limit = new LabelLimit(max);
    times(max, i -> assertThat(limit.of("t" + i)).isEqualTo("t" + i));
    assertThat(limit.of("new")).isEqualTo(LabelLimit.OTHER);
    limit.retain(Set.of("new"));
    assertThat(limit.of("new")).isEqualTo("new");
  }

  @Property
  void rowsAreBounded(@ForAll @IntRange(min = 1, max = 9) int max) {
    Rows rows = new Rows(max);
    times(50, i -> rows.add(1, "g" + i, "t" + i));
    assertThat(rows.sums()).hasSize(max + 1);
    assertThat(rows.sums().get(List.of(LabelLimit.OTHER, LabelLimit.OTHER))).isEqualTo(50.0 - max);
  }
}
