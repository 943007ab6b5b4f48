package dev.evenkeel.bus;

import static org.assertj.core.api.Assertions.assertThat;

import dev.evenkeel.bus.GroupFigure.Section;
import io.vertx.core.json.JsonObject;
import java.util.List;
import org.junit.jupiter.api.Test;

class FlowTallyTest {
  private final Figures rates = Figures.of(Section.RATES, 1, 2, 3, 4);

  @Test
  void itIsTheSameAfterTheWire() {
    for (FlowTally each :
        List.of(
            new FlowTally(Figures.NONE, null, null),
            new FlowTally(rates, null, null),
            new FlowTally(Figures.NONE, new FlowTally.Broadcast(null, 0), null),
            new FlowTally(rates, new FlowTally.Broadcast(7L, 8), null))) {
      JsonObject wire = new JsonObject(each.toJson().toBuffer());
      assertThat(FlowTally.fromJson(wire)).isEqualTo(each);
    }
    assertThat(FlowTally.fromJson(null)).isNull();
    assertThat(new FlowTally(rates, new FlowTally.Broadcast(null, 5), null).toJson().encode())
        .isEqualTo(
            "{\"delayed\":1,\"dropped\":2,\"waiting\":3,\"shardsWaiting\":4,\"passedOver\":5,\"lag\":null}");
  }

  @Test
  void aFigureThatAMemberOfAnotherVersionLeavesOutIsZero() {
    assertThat(FlowTally.fromJson(new JsonObject().put("dropped", 2)).rates())
        .isEqualTo(Figures.of(Section.RATES, 0, 2, 0, 0));
  }

  @Test
  void ofAMemberThatIsGoneOnlyCountsStay() {
    assertThat(rates.plus(rates).past()).isEqualTo(Figures.of(Section.RATES, 2, 4, 0, 0));
  }

  @Test
  void whatIsUnknownIsNull() {
    Figures dedup = Figures.of(Section.DEDUP, 1, 2, 3, 4, 5, 6, 7, 8);
    assertThat(rates.plus(dedup).plus(Figures.NONE).json(Section.RATES))
        .isEqualTo(rates.json(Section.RATES));
    assertThat(dedup.json(Section.RATES).encode())
        .isEqualTo("{\"delayed\":null,\"dropped\":null,\"waiting\":null,\"shardsWaiting\":null}");
  }
}
