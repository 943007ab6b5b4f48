package dev.evenkeel.bus;

import static org.assertj.core.api.Assertions.assertThat;

import io.vertx.core.json.JsonObject;
import java.util.List;
import org.junit.jupiter.api.Test;

class FlowTallyTest {
  @Test
  void itIsTheSameAfterTheWire() {
    FlowTally.Rates rates = new FlowTally.Rates(1, 2, 3, 4);
    for (FlowTally each :
        List.of(
            new FlowTally(null, null),
            new FlowTally(rates, null),
            new FlowTally(null, new FlowTally.Broadcast(null, 0)),
            new FlowTally(rates, new FlowTally.Broadcast(7L, 8)))) {
      JsonObject wire = new JsonObject(each.toJson().toBuffer());
      assertThat(FlowTally.fromJson(wire)).isEqualTo(each);
    }
    assertThat(FlowTally.fromJson(null)).isNull();
  }

  @Test
  void ofAMemberThatIsGoneOnlyCountsStay() {
    FlowTally.Rates rates = new FlowTally.Rates(1, 2, 3, 4);
    assertThat(rates.plus(rates).past()).isEqualTo(new FlowTally.Rates(2, 4, 0, 0));
  }
}
