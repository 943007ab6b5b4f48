package dev.evenkeel.broker.quota;

import static dev.evenkeel.broker.quota.VirtualPort.MILLI;
import static dev.evenkeel.broker.quota.VirtualPort.SECOND;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import dev.evenkeel.bus.meters.Meters;
import dev.evenkeel.protocol.Quota;
import dev.evenkeel.protocol.QuotaKind;
import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.RefusedException;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.vertx.core.Future;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class QuotaGateTest {
  private static final Quota.Key TOPIC = new Quota.Key(QuotaKind.TOPIC, "t");

  private final VirtualPort.World world = new VirtualPort.World();
  private final VirtualPort port = new VirtualPort(world);
  private final QuotaGate gate = gate(port);

  private static QuotaMeters meters() {
    return new QuotaMeters(new Meters(null, new SimpleMeterRegistry(), 10).scope("test"));
  }

  private static QuotaGate gate(VirtualPort port) {
    return new QuotaGate(port, meters(), 1 << 20);
  }

  private void messages(long perSecond) {
    world.set(Quota.perSecond(TOPIC.kind(), TOPIC.name(), 0, perSecond));
  }

  private static Refusal refusal(Future<Void> failed) {
    return failed.failed() ? ((RefusedException) failed.cause()).refusal() : null;
  }

  /** Sends all the time, with so many requests under way; counts what passes. */
  private final class Sender {
    private final QuotaGate gate;
    private final int messages;
    long passed;
    long refused;

    Sender(QuotaGate gate, int messages, int underWay) {
      this.gate = gate;
      this.messages = messages;
      for (int i = 0; i < underWay; i++) {
        send();
      }
    }

    private void send() {
      gate.pass(TOPIC, 10L * messages, messages)
          .onComplete(
              done -> {
                if (done.succeeded()) {
                  passed += messages;
                } else {
                  refused++;
                }
                world.after(done.succeeded() ? 2 * MILLI : 300 * MILLI, this::send);
              });
    }
  }

  @Test
  void withoutAQuotaNothingWaits() {
    assertThat(gate.pass(TOPIC, 1, 1).succeeded()).isTrue();
    assertThat(port.asked).isEmpty();
  }

  @Test
  void whoComesFirstPassesFirst() {
    messages(200);
    List<Integer> order = new ArrayList<>();
    for (int i = 0; i < 20; i++) {
      int number = i;
      gate.pass(TOPIC, 10, 3).onSuccess(passed -> order.add(number));
    }
    assertThat(order).isEmpty();
    world.runUntil(SECOND);
    assertThat(order).isSorted().hasSize(20);
    assertThat(port.asked.size()).as("questions are for many").isLessThan(12);
  }

  @Test
  void refusesWhenTheLineIsTooLong() {
    messages(100);
    List<Future<Void>> all = new ArrayList<>();
    for (int i = 0; i < 10; i++) {
      all.add(gate.pass(TOPIC, 10, 10));
    }
    assertThat(all).filteredOn(Future::failed).isNotEmpty();
    assertThat(refusal(all.get(9))).isEqualTo(Refusal.OVERLOADED);
    assertThat(all.get(9).cause())
        .hasMessageContaining("topic 't'")
        .hasMessageContaining("100 mes");
    world.runUntil(2 * SECOND);
    int passed = (int) all.stream().filter(Future::succeeded).count();
    assertThat(all.subList(0, passed)).as("those in front").allMatch(Future::succeeded);
  }

  @Test
  void aRequestLargerThanTheRatePassesAndIsPaidAfterwards() {
    messages(100);
    Future<Void> large = gate.pass(TOPIC, 10, 500);
    world.runUntil(10 * MILLI);
    assertThat(large.succeeded()).isTrue();
    Future<Void> next = gate.pass(TOPIC, 10, 1);
    world.runUntil(20 * MILLI);
    assertThat(refusal(next)).isEqualTo(Refusal.OVERLOADED);
    world.runUntil(4_500 * MILLI);
    next = gate.pass(TOPIC, 10, 1);
    world.runUntil(4_900 * MILLI);
    assertThat(next.isComplete()).isFalse();
    world.runUntil(5_010 * MILLI);
    assertThat(next.succeeded()).isTrue();
  }

  @Test
  void nodesTogetherKeepToTheQuota() {
    messages(1_000);
    QuotaGate other = gate(new VirtualPort(world));
    Sender a = new Sender(gate, 7, 5);
    Sender b = new Sender(gate, 20, 3);
    Sender c = new Sender(other, 3, 8);
    world.runUntil(30 * SECOND);
    assertThat((a.passed + b.passed + c.passed) / 30.0).isCloseTo(1_000, within(30.0));
    assertThat(List.of(a.passed, b.passed, c.passed)).allMatch(passed -> passed > 2_000);
  }

  @Test
  void aChangeCountsAtOnce() {
    messages(1_000);
    Sender sender = new Sender(gate, 5, 20);
    world.runUntil(10 * SECOND);
    assertThat(sender.passed / 10.0).isCloseTo(1_000, within(40.0));
    messages(2_000);
    sender.passed = 0;
    world.runUntil(20 * SECOND);
    assertThat(sender.passed / 10.0).isCloseTo(2_000, within(80.0));
    world.set(Quota.none(TOPIC.kind(), TOPIC.name()));
    sender.passed = 0;
    world.runUntil(21 * SECOND);
    assertThat(sender.passed).as("without a quota").isGreaterThan(20_000);
    assertThat(gate.holds(TOPIC)).isFalse();
  }

  @Test
  void withoutACoordinatorNodesGoOnAtTheirShares() {
    messages(1_000);
    QuotaGate other = gate(new VirtualPort(world));
    Sender a = new Sender(gate, 10, 5);
    Sender b = new Sender(other, 10, 5);
    world.runUntil(10 * SECOND);
    world.coordinator = null;
    world.runUntil(11 * SECOND);
    a.passed = 0;
    b.passed = 0;
    world.runUntil(31 * SECOND);
    assertThat((a.passed + b.passed) / 20.0).isCloseTo(1_000, within(150.0));
    world.coordinator = new RateReservations(world.now);
    world.runUntil(33 * SECOND);
    a.passed = 0;
    b.passed = 0;
    world.runUntil(63 * SECOND);
    assertThat((a.passed + b.passed) / 30.0).isCloseTo(1_000, within(50.0));
  }
}
