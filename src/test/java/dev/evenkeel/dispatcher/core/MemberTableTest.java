package dev.evenkeel.dispatcher.core;

import static org.assertj.core.api.Assertions.assertThat;

import dev.evenkeel.bus.Heartbeat;
import dev.evenkeel.bus.Heartbeats;
import dev.evenkeel.dispatcher.core.MemberTable.Heard;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

class MemberTableTest {
  private final MemberTable before = new MemberTable(new EndedRuns());
  private final MemberTable next = new MemberTable(new EndedRuns());

  private static Heartbeat beat(String instance, long born) {
    return Heartbeats.beat("g", "a", instance, born);
  }

  private static Heard heard(MemberTable table, Heartbeat beat) {
    return table.heard(beat, Set.of("t"), 0);
  }

  /** The next dispatcher reads the registry, and knows nothing of runs that have ended. */
  private void registered() {
    Member member = before.live("a");
    next.sighted(
        new UnheardMember(
            "g",
            "a",
            member.instance(),
            member.beat().bornMillis(),
            List.of("t"),
            null,
            "host",
            5_000,
            5_000,
            Heartbeat.Wishes.NONE,
            null));
  }

  @Test
  void theNextDispatcherKnowsTheLaterRunWhateverItsClockSays() {
    assertThat(heard(before, beat("former", 100))).isEqualTo(Heard.JOINED);
    assertThat(heard(before, beat("later", 40).asJoining())).isEqualTo(Heard.REPLACED_FORMER);
    assertThat(heard(before, beat("later", 40))).isEqualTo(Heard.SAME);
    registered();
    assertThat(heard(next, beat("former", 100))).isEqualTo(Heard.REFUSED);
    assertThat(heard(next, beat("later", 40))).isEqualTo(Heard.RETURNED);
    assertThat(heard(next, beat("former", 100))).isEqualTo(Heard.REFUSED);
    assertThat(heard(next, beat("later", 40))).isEqualTo(Heard.SAME);
  }

  /** A run that was cut off comes back after another run took its name. */
  @Test
  void aRunThatWasGivenUpDoesNotTakeItsPlaceBackFromALaterOne() {
    assertThat(heard(before, beat("former", 100))).isEqualTo(Heard.JOINED);
    assertThat(before.expire("a", 0)).hasSize(1);
    assertThat(heard(before, beat("later", 40).asJoining())).isEqualTo(Heard.JOINED);
    assertThat(heard(before, beat("former", 100))).isEqualTo(Heard.REFUSED);
    assertThat(heard(before, beat("later", 40))).isEqualTo(Heard.SAME);
  }

  @Test
  void norDoesOneThatTheNextDispatcherHadNotHeardYet() {
    assertThat(heard(before, beat("former", 100))).isEqualTo(Heard.JOINED);
    registered();
    assertThat(next.expire(5_000)).hasSize(1);
    assertThat(heard(next, beat("later", 40).asJoining())).isEqualTo(Heard.JOINED);
    assertThat(heard(next, beat("former", 100))).isEqualTo(Heard.REFUSED);
    assertThat(heard(next, beat("later", 40))).isEqualTo(Heard.SAME);
  }
}
