package dev.evenkeel.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.RefusedException;
import org.junit.jupiter.api.Test;

class JoinTriesTest {
  private int tries;

  private String join(Refusal refusal, int failures) {
    return ClusterMembers.patiently(
        () -> {
          tries++;
          if (tries <= failures) {
            throw new RefusedException(refusal, "no " + tries);
          }
          return "joined";
        });
  }

  @Test
  void aClusterThatCannotBeJoinedIsTriedAgain() {
    assertThat(join(Refusal.UNAVAILABLE, ClusterMembers.JOIN_TRIES - 1)).isEqualTo("joined");
    assertThat(tries).isEqualTo(ClusterMembers.JOIN_TRIES);
  }

  @Test
  void notForEver() {
    assertThatThrownBy(() -> join(Refusal.UNAVAILABLE, 100)).hasMessageContaining("no 3");
    assertThat(tries).isEqualTo(ClusterMembers.JOIN_TRIES);
  }

  @Test
  void aBusyPortIsSaidAtOnce() {
    assertThatThrownBy(() -> join(Refusal.INVALID, 100)).hasMessageContaining("no 1");
    assertThat(tries).isEqualTo(1);
  }
}
