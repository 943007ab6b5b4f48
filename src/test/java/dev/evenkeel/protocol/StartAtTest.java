package dev.evenkeel.protocol;

import static org.assertj.core.api.Assertions.assertThat;

import dev.evenkeel.Refused;
import java.time.Instant;
import org.junit.jupiter.api.Test;

class StartAtTest {
  @Test
  void readsPlacesAsPeopleWriteThem() {
    assertThat(StartAt.parse("earliest")).isEqualTo(StartAt.EARLIEST);
    assertThat(StartAt.parse("latest")).isEqualTo(StartAt.LATEST);
    assertThat(StartAt.parse("12345")).isEqualTo(StartAt.offset(12_345));
    StartAt noon = StartAt.timestamp(Instant.parse("2026-01-31T12:00:00Z").toEpochMilli());
    assertThat(StartAt.parse("2026-01-31T12:00:00Z")).isEqualTo(noon);
    assertThat(StartAt.parse("2026-01-31T12:00:00")).isEqualTo(noon);
    assertThat(StartAt.parse("2026-01-31T13:00:00+01:00")).isEqualTo(noon);
    assertThat(StartAt.parse("1960-01-01T00:00:00Z")).isEqualTo(StartAt.timestamp(0));
  }

  /** A time in seconds would be one of 1970, before all messages. */
  @Test
  void secondsAreNoMilliseconds() {
    for (String seconds : new String[] {"1795852156", "100000000", "99999999999"}) {
      Refused.saying(() -> StartAt.parseTime(seconds), "write " + seconds + "000");
    }
    for (long millis : new long[] {0, 5, 99_999_999, 100_000_000_000L, 1_795_852_156_000L}) {
      assertThat(StartAt.parseTime(String.valueOf(millis))).isEqualTo(StartAt.timestamp(millis));
    }
  }

  @Test
  void refusesTheRestAndSaysWhatWouldBeRight() {
    for (String text :
        new String[] {
          "",
          "soon",
          "-1",
          "2026-13-01T00:00:00Z",
          "1234567890123456789",
          "+999999999-01-01T00:00:00Z"
        }) {
      Refused.saying(() -> StartAt.parse(text), "write earliest, latest");
    }
  }
}
