package dev.evenkeel.broker.serve;

import static org.assertj.core.api.Assertions.assertThat;

import dev.evenkeel.bus.NodeLogs;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class CopyRenewalTest {
  private static final List<String> OTHERS = List.of("n2", "n3");

  private static NodeLogs logs(String leader, Map<String, String> ineligible) {
    return new NodeLogs(
        "any",
        null,
        List.of(
            new NodeLogs.Group(
                "d0",
                leader,
                1,
                false,
                1,
                1,
                Map.of(),
                new NodeLogs.Condition(ineligible, null, Map.of(), null))),
        NodeLogs.Levels.FIRST);
  }

  private static boolean mayGiveUp(String leader, Map<String, NodeLogs> answers) {
    return CopyRenewal.mayGiveUp("d0", leader, OTHERS, answers);
  }

  private static final NodeLogs SOUND = logs("n2", Map.of());

  @Test
  void whenAllOthersAreSoundAndOneOfThemLeads() {
    assertThat(mayGiveUp("n2", Map.of("n2", SOUND, "n3", SOUND))).isTrue();
  }

  @Test
  void notWhileThisNodeLeadsOrNobodyDoes() {
    NodeLogs own = logs("n1", Map.of());
    assertThat(mayGiveUp("n1", Map.of("n2", own, "n3", own))).isFalse();
    NodeLogs none = logs(null, Map.of());
    assertThat(mayGiveUp(null, Map.of("n2", none, "n3", none))).isFalse();
  }

  @Test
  void notWhileANodeIsAwayOrHasAFaultOfItsOwnOrSeesAnotherLeader() {
    assertThat(mayGiveUp("n2", Map.of("n2", SOUND))).isFalse();
    assertThat(mayGiveUp("n2", Map.of("n2", SOUND, "n3", logs("n2", Map.of("DAMAGED", "x")))))
        .isFalse();
    assertThat(mayGiveUp("n2", Map.of("n2", SOUND, "n3", logs("n3", Map.of())))).isFalse();
    assertThat(CopyRenewal.mayGiveUp("d1", "n2", OTHERS, Map.of("n2", SOUND, "n3", SOUND)))
        .isFalse();
  }

  @Test
  void neverWithFewerThanTwoOthers() {
    assertThat(CopyRenewal.mayGiveUp("d0", "n2", List.of("n2"), Map.of("n2", SOUND))).isFalse();
    assertThat(CopyRenewal.mayGiveUp("d0", "n1", List.of(), Map.of())).isFalse();
  }
}
