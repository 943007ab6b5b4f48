package dev.evenkeel.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.evenkeel.client.Delivery;
import dev.evenkeel.protocol.Message;
import java.util.Map;
import org.junit.jupiter.api.Test;

class MaxGateTest {
  private static Delivery at(int shard, long offset) {
    return new Delivery("t", shard, offset, new Message(null, Map.of(), 0, new byte[0]), "m", 1, 1);
  }

  @Test
  void exactlySoManyGetThrough() {
    MaxGate gate = new MaxGate(2, Integer.MAX_VALUE);
    assertThat(gate.admit(at(0, 0))).isTrue();
    assertThat(gate.admit(at(1, 0))).isTrue();
    assertThat(gate.admit(at(0, 1))).isFalse();
    gate.succeeded(at(0, 0));
    assertThat(gate.admit(at(0, 1))).isFalse();
    assertThat(gate.complete()).isFalse();
    gate.succeeded(at(1, 0));
    assertThat(gate.complete()).isTrue();
    assertThat(gate.admit(at(0, 1))).isFalse();
  }

  @Test
  void aFailedMessageKeepsItsPlace() {
    MaxGate gate = new MaxGate(1, Integer.MAX_VALUE);
    assertThat(gate.admit(at(0, 0))).isTrue();
    gate.failed(at(0, 0));
    assertThat(gate.retryPending()).isTrue();
    assertThat(gate.admit(at(0, 1))).isFalse();
    assertThat(gate.admit(at(0, 0))).isTrue();
    assertThat(gate.retryPending()).isFalse();
    gate.succeeded(at(0, 0));
    assertThat(gate.complete()).isTrue();
  }

  @Test
  void aShardThatGoesFreesThePlaces() {
    MaxGate gate = new MaxGate(1, Integer.MAX_VALUE);
    assertThat(gate.admit(at(0, 0))).isTrue();
    gate.failed(at(0, 0));
    gate.shardGone("t", 0);
    assertThat(gate.admit(at(1, 5))).isTrue();
  }

  @Test
  void aFailedMessageThatIsDroppedFreesItsPlace() {
    MaxGate gate = new MaxGate(1, Integer.MAX_VALUE);
    assertThat(gate.admit(at(0, 0))).isTrue();
    gate.failed(at(0, 0));
    gate.passed(at(0, 0));
    assertThat(gate.retryPending()).isFalse();
    assertThat(gate.admit(at(0, 1))).isTrue();
  }

  @Test
  void withoutALimitEverythingGetsThrough() {
    MaxGate gate = new MaxGate(0, Integer.MAX_VALUE);
    assertThat(gate.admit(at(0, 0))).isTrue();
    gate.succeeded(at(0, 0));
    assertThat(gate.complete()).isFalse();
  }
}
