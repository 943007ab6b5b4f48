package dev.evenkeel.protocol;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;

class NamesTest {
  @Test
  void goodNames() {
    for (String name : new String[] {"a", "Orders_2", "a.b-c", "_x", "9", "x".repeat(120)}) {
      assertThat(Names.check("topic", name)).isEqualTo(name);
    }
  }

  @Test
  void badNamesAreRefusedInOneLine() {
    String[] bad = {null, "", ".a", "-a", "a b", "a/b", "ä", "a\nb", "x".repeat(121)};
    for (String name : bad) {
      assertThatThrownBy(() -> Names.check("topic", name))
          .isInstanceOfSatisfying(
              RefusedException.class,
              refused -> {
                assertThat(refused.refusal()).isEqualTo(Refusal.INVALID);
                assertThat(refused.getMessage()).contains("topic").doesNotContain("\n");
              });
    }
  }
}
