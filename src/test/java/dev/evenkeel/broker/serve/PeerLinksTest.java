package dev.evenkeel.broker.serve;

import static org.assertj.core.api.Assertions.assertThat;

import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.RefusedException;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class PeerLinksTest {
  private static final RefusedException SILENT =
      new RefusedException(Refusal.INDETERMINATE, "no answer");

  private final PeerLinks links = new PeerLinks("n1");

  @Test
  void aLinkIsUnansweredSinceTheFirstQuestionWithoutAnAnswer() {
    assertThat(links.ask(List.of("n2", "n3"))).containsExactlyInAnyOrder("n2", "n3");
    assertThat(links.ask(List.of("n2", "n3"))).as("both are asked already").isEmpty();
    links.ended("n2", null, 1_000, 1_001);
    links.ended("n3", SILENT, 1_000, 3_000);
    assertThat(links.unanswered(3_000)).isEqualTo(Map.of("n3", 2_000L));
    assertThat(links.ask(List.of("n2", "n3"))).containsExactlyInAnyOrder("n2", "n3");
    links.ended("n3", SILENT, 4_000, 6_000);
    assertThat(links.unanswered(7_000)).isEqualTo(Map.of("n3", 6_000L));
    links.ask(List.of("n2", "n3"));
    links.ended("n3", null, 8_000, 8_001);
    assertThat(links.unanswered(9_000)).isEmpty();
  }

  /** The member list says so, and a refusal is an answer. */
  @Test
  void aNodeThatIsNotThereOrRefusesIsNoSilentOne() {
    links.ask(List.of("n2"));
    links.ended("n2", SILENT, 0, 2_000);
    links.ask(List.of("n2"));
    links.ended("n2", new RefusedException(Refusal.UNAVAILABLE, "not there"), 2_000, 2_001);
    assertThat(links.unanswered(3_000)).isEmpty();
    links.ask(List.of("n2"));
    links.ended("n2", SILENT, 4_000, 6_000);
    links.ask(List.of("n3"));
    assertThat(links.unanswered(7_000)).as("n2 was removed").isEmpty();
  }
}
