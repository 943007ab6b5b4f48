package dev.evenkeel.dispatcher;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;

class EndedOwnersTest {
  private static final long RELIES_MILLIS = 6_500;
  private static final Set<String> S = Set.of("s");

  private final EndedOwners owners = new EndedOwners(RELIES_MILLIS);

  /** When nodes reported that the last connection was lost. */
  private final Map<String, Long> reported = new HashMap<>();

  private Set<String> look(Set<String> ended, long nowMillis) {
    return owners.endedForLong(
        ended,
        owner -> reported.containsKey(owner) ? nowMillis - reported.get(owner) : null,
        nowMillis);
  }

  private void looks(long fromMillis, long toMillis) {
    for (long now = fromMillis; now <= toMillis; now += 1_000) {
      assertThat(look(S, now)).as("at %s", now).isEmpty();
    }
  }

  @Test
  void whoHasNoConnectionForLongReliesOnNothing() {
    looks(0, 6_000);
    assertThat(look(S, 6_499)).isEmpty();
    assertThat(look(S, 6_500)).containsExactly("s");
    assertThat(look(S, 7_500)).containsExactly("s");
  }

  @Test
  void whoIsSeenAgainBeginsAnew() {
    looks(0, 5_000);
    look(Set.of(), 6_000);
    looks(7_000, 13_000);
    assertThat(look(S, 13_500)).containsExactly("s");
  }

  /** It asked for its claims before it went, so it may rely on them for as long as any other. */
  @Test
  void whoCameBackAndWentBetweenTwoLooksBeginsAnew() {
    looks(0, 6_000);
    reported.put("s", 6_900L);
    looks(7_000, 13_000);
    assertThat(look(S, 13_399)).isEmpty();
    assertThat(look(S, 13_400)).containsExactly("s");
  }

  /** The report comes before the first look. */
  @Test
  void aReportOfTheFirstEndChangesNothing() {
    reported.put("s", -300L);
    looks(0, 6_000);
    assertThat(look(S, 6_500)).containsExactly("s");
  }

  @Test
  void twoLooksThatAreFarApartSayNothingOfTheTimeBetween() {
    look(S, 0);
    assertThat(look(S, 8_000)).isEmpty();
    looks(9_000, 14_000);
    assertThat(look(S, 14_500)).containsExactly("s");
  }

  @Test
  void afterALookThatFailedOrASightItBeginsAnew() {
    looks(0, 6_000);
    owners.unknown();
    looks(7_000, 13_000);
    owners.back("s");
    looks(14_000, 20_000);
    assertThat(look(S, 20_500)).containsExactly("s");
  }
}
