package dev.evenkeel.protocol.wire;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.evenkeel.protocol.RefusedException;
import java.util.List;
import org.junit.jupiter.api.Test;

class GrownRecordTest {
  /** As a former version had it. */
  public record Former(long age) {}

  public record Now(long age, long size, boolean old) {}

  private static final Codec<Former> FORMER = Codec.record(Former.class);
  private static final Codec<Now> NOW =
      Codec.grown(Now.class, new Now(1, -1, false), List.of(11, 13));

  @Test
  void isAsBeforeWhileWhatWasAddedIsAsUsual() {
    byte[] bytes = FORMER.encode(new Former(7));
    assertThat(NOW.encode(new Now(7, -1, false))).isEqualTo(bytes);
    assertThat(NOW.decode(bytes)).isEqualTo(new Now(7, -1, false));
    assertThat(NOW.level(new Now(7, -1, false))).isEqualTo(FeatureLevel.FIRST);
  }

  @Test
  void needsTheLevelOfTheLastThatIsNot() {
    for (Now each : List.of(new Now(7, 5, false), new Now(7, 5, true), new Now(7, -1, true))) {
      assertThat(NOW.decode(NOW.encode(each))).isEqualTo(each);
      assertThat(NOW.level(each)).isEqualTo(each.old() ? 13 : 11);
    }
  }

  @Test
  void refusesMoreThanItKnows() {
    Codec<Now> less = Codec.grown(Now.class, new Now(1, -1, false), List.of(13));
    byte[] bytes = NOW.encode(new Now(7, 5, true));
    assertThatThrownBy(() -> less.decode(bytes))
        .isInstanceOf(RefusedException.class)
        .hasMessageContaining("form 2");
  }
}
