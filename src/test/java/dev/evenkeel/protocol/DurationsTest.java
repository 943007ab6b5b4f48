package dev.evenkeel.protocol;

import static org.assertj.core.api.Assertions.assertThat;

import dev.evenkeel.Refused;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.LongRange;
import org.junit.jupiter.api.Test;

class DurationsTest {
  @Property
  void formatAndParseAgree(@ForAll @LongRange(min = 0, max = 1L << 38) long millis) {
    assertThat(Durations.parseMillis(Durations.format(millis))).isEqualTo(millis);
  }

  @Test
  void units() {
    assertThat(Durations.parseMillis("200ms")).isEqualTo(200);
    assertThat(Durations.parseMillis("5s")).isEqualTo(5_000);
    assertThat(Durations.parseMillis("2m")).isEqualTo(120_000);
    assertThat(Durations.parseMillis("1h")).isEqualTo(3_600_000);
    assertThat(Durations.parseMillis("7d")).isEqualTo(7 * 86_400_000L);
    assertThat(Durations.format(0)).isEqualTo("0ms");
  }

  @Test
  void whatIsNoDurationIsRefusedWithTheRightForms() {
    for (String bad :
        new String[] {"", "5", "5 s", "-1s", "1.5s", "s", "5sec", "99999999999999s"}) {
      Refused.saying(() -> Durations.parseMillis(bad), "200ms, 5s, 2m, 1h");
    }
  }
}
