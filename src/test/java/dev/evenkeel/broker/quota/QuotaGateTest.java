package dev.evenkeel.broker.quota;

import static dev.evenkeel.Loops.times;
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
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
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
      times(underWay, i -> send());
    }

    private void send() {
      gate.pass(TOPIC, this, 10L * messages, messages)
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
    assertThat(gate.pass(TOPIC, this, 1, 1).succeeded()).isTrue();
    assertThat(port.asked).isEmpty();
  }

  @Test
  void whoComesFirstPassesFirst() {
    messages(200);
    List<Integer> order = new ArrayList<>();
    for (int i = 0; i < 20; i++) {
      int number = i;
      gate.pass(TOPIC, this, 10, 3).onSuccess(passed -> order.add(number));
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
    times(10, i -> all.add(gate.pass(TOPIC, this, 10, 10)));
    assertThat(all).filteredOn(Future::failed).isNotEmpty();
    assertThat(refusal(all.get(9))).isEqualTo(Refusal.OVERLOADED);
    assertThat(all.get(9).cause())
        .hasMessageContaining("topic 't'")
        .hasMessageContaining("100 mes");
    world.runUntil(2 * SECOND);
    int passed = (int) all.stream().filter(Future::succeeded).count();
    assertThat(all.subList(0, passed)).as("those in front").allMatch(Future::succeeded);
  }

  private static RefusedException.QuotaReached reached(Future<Void> refused) {
    assertThat(refused.failed()).isTrue();
    return (RefusedException.QuotaReached) refused.cause();
  }

  @Test
  void whoeverSendsMoreThanTheQuotaOfASecondSavesForItFirst() {
    messages(100);
    Future<Void> large = gate.pass(TOPIC, "a", 10, 500);
    assertThat(reached(large).retryAfterMillis()).isBetween(1_000L, 5_000L);
    assertThat(reached(large).messagesMax()).isEqualTo(25);
    assertThat(large.cause())
        .hasMessageContaining("again after " + reached(large).retryAfterMillis() + " ms");
    world.runUntil(3_000 * MILLI);
    assertThat(reached(gate.pass(TOPIC, "a", 10, 500)).retryAfterMillis())
        .as("what is left")
        .isBetween(1_000L, 4_500L);
    world.runUntil(5_000 * MILLI);
    assertThat(gate.pass(TOPIC, "a", 10, 500).succeeded()).isTrue();
    Future<Void> next = gate.pass(TOPIC, "b", 10, 1);
    world.runUntil(5_100 * MILLI);
    assertThat(next.succeeded()).as("it owes nothing").isTrue();
  }

  @Test
  void savingsThatNobodyAsksForPayForSmallerRequestsAndThenGo() {
    messages(100);
    assertThat(reached(gate.pass(TOPIC, "a", 500, 500))).isNotNull();
    world.runUntil(9 * SECOND);
    gate.pass(TOPIC, "a", 10, 1);
    world.runUntil(16 * SECOND);
    assertThat(gate.pass(TOPIC, "a", 10, 90).succeeded()).as("paid already").isTrue();
    world.runUntil(60 * SECOND);
    assertThat(reached(gate.pass(TOPIC, "a", 10, 500))).as("forgotten").isNotNull();
  }

  /** It pays for the parts only, and not for the whole besides. */
  @Test
  void whoeverDividesALargeRequestPaysForItOnce() {
    messages(2);
    Future<Void> large = gate.pass(TOPIC, "a", 10, 10);
    world.after(reached(large).retryAfterMillis() * MILLI, () -> parts(10));
    world.runUntil(5_600 * MILLI);
    assertThat(parts).isEqualTo(10);
    List<Future<Void>> more = List.of(gate.pass(TOPIC, "a", 1, 1), gate.pass(TOPIC, "a", 1, 1));
    world.runUntil(5_700 * MILLI);
    assertThat(more).as("nothing is left over").anyMatch(each -> !each.succeeded());
  }

  private int parts;

  private void parts(int left) {
    if (left > 0) {
      gate.pass(TOPIC, "a", 1, 1)
          .onSuccess(
              passed -> {
                parts++;
                parts(left - 1);
              });
    }
  }

  /** As those of the shards of a spool: what is saved for the larger one is not lost. */
  @Test
  void whatALargeRequestLeavesIsForTheNextLargeOne() {
    messages(100);
    assertThat(reached(gate.pass(TOPIC, "a", 10, 150))).isNotNull();
    assertThat(reached(gate.pass(TOPIC, "a", 10, 500))).isNotNull();
    world.runUntil(5_000 * MILLI);
    assertThat(gate.pass(TOPIC, "a", 10, 150).succeeded()).isTrue();
    assertThat(reached(gate.pass(TOPIC, "a", 10, 500))).as("150 are missing").isNotNull();
    world.runUntil(6_600 * MILLI);
    assertThat(gate.pass(TOPIC, "a", 10, 500).succeeded()).isTrue();
  }

  @Test
  void whatWasNotSpentIsGivenBack() {
    messages(100);
    Future<Void> passed = gate.pass(TOPIC, "a", 10, 100);
    world.runUntil(2 * SECOND);
    assertThat(passed.succeeded()).isTrue();
    gate.giveBack(TOPIC, "a", 10, 100);
    assertThat(gate.pass(TOPIC, "a", 10, 100).succeeded()).isTrue();
  }

  /** It may wait behind a smaller one of its sender when the coordinator has no time. */
  @Test
  void savingsOutliveTheRefusalOfWhatTheyPayFor() {
    messages(100);
    assertThat(reached(gate.pass(TOPIC, "a", 10, 500))).isNotNull();
    world.runUntil(2 * SECOND);
    assertThat(reached(gate.pass(TOPIC, "a", 10, 500))).as("it cannot divide it").isNotNull();
    world.runUntil(6 * SECOND);
    world.coordinator.reserve(world.now, world.quotas.get(TOPIC), 0, 400, SECOND);
    Future<Void> small = gate.pass(TOPIC, "a", 10, 100);
    Future<Void> large = gate.pass(TOPIC, "a", 10, 500);
    world.runUntil(6_100 * MILLI);
    assertThat(List.of(small, large)).allMatch(Future::failed);
    assertThat(gate.pass(TOPIC, "a", 10, 500).succeeded()).isTrue();
  }

  @Test
  void whatWaitsHasALimitInBytes() {
    messages(50);
    List<Future<Void>> all = new ArrayList<>();
    times(100, i -> all.add(gate.pass(TOPIC, "sender " + i, 64 << 10, 1)));
    assertThat(all.stream().filter(each -> !each.isComplete())).hasSize(16);
    assertThat(all.subList(16, 100)).allMatch(each -> refusal(each) == Refusal.OVERLOADED);
  }

  @Test
  void aSenderLeavesRoomForOthers() {
    messages(1_000);
    List<Future<Void>> all = new ArrayList<>();
    times(20, i -> all.add(gate.pass(TOPIC, "large", 64 << 10, 1)));
    assertThat(all.stream().filter(each -> !each.isComplete())).hasSize(8);
    assertThat(gate.pass(TOPIC, "other", 64 << 10, 1).isComplete()).isFalse();
  }

  /** Sends again and again what does not divide, as a client does that cannot. */
  private final class Insists {
    private final int messages;
    long passed;

    Insists(int messages) {
      this.messages = messages;
      send();
    }

    private void send() {
      gate.pass(TOPIC, this, 10L * messages, messages)
          .onComplete(
              done -> {
                passed += done.succeeded() ? messages : 0;
                world.after(done.succeeded() ? 2 * MILLI : 700 * MILLI, this::send);
              });
    }
  }

  /** Sends one message at a time, at less than its share, and remembers how long it took. */
  private final class Modest {
    private final long pauseNanos;
    long passed;
    long longestNanos;

    Modest(long pauseNanos) {
      this.pauseNanos = pauseNanos;
      send();
    }

    private void send() {
      attempt(world.now);
    }

    private void attempt(long since) {
      gate.pass(TOPIC, this, 10, 1)
          .onComplete(
              done -> {
                if (done.failed()) {
                  world.after(50 * MILLI, () -> attempt(since));
                  return;
                }
                passed++;
                longestNanos = Math.max(longestNanos, world.now - since);
                world.after(pauseNanos, this::send);
              });
    }
  }

  /**
   * Whoever sends what the quota cannot carry, large or many, delays nobody whose messages fit into
   * their share; all together get what the quota allows, and no more.
   */
  @Property(tries = 60)
  void nobodyWaitsForTheDebtOfAnother(
      @ForAll @IntRange(min = 20, max = 2_000) int perSecond,
      @ForAll @IntRange(min = 1, max = 3) int large,
      @ForAll @IntRange(min = 2, max = 200) int seconds,
      @ForAll @IntRange(min = 0, max = 3) int busy) {
    new QuotaGateTest().crowd(perSecond, large, seconds, busy);
  }

  private void crowd(int perSecond, int large, int seconds, int busy) {
    messages(perSecond);
    List<Insists> insists = new ArrayList<>();
    times(large, i -> insists.add(new Insists(perSecond * seconds + i)));
    List<Sender> many = new ArrayList<>();
    times(busy, i -> many.add(new Sender(gate, Math.max(1, perSecond / 4), 8)));
    // Half of its share.
    Modest modest = new Modest(2L * SECOND * (large + 2 * busy + 1) / perSecond);
    int runs = 600;
    world.runUntil(runs * SECOND);
    assertThat(modest.longestNanos).isLessThan(2 * SECOND);
    assertThat(modest.passed)
        .isGreaterThan(Math.min(2L * runs, (long) runs * perSecond / (large + 2 * busy + 1) / 5));
    long passed =
        modest.passed
            + insists.stream().mapToLong(each -> each.passed).sum()
            + many.stream().mapToLong(each -> each.passed).sum();
    assertThat(passed).isLessThanOrEqualTo((long) perSecond * runs + perSecond / 4 + 1);
    if (large * 2L * seconds * (busy + 2) < runs / 2) {
      assertThat(insists).as("what cannot be divided").allMatch(each -> each.passed > 0);
      assertThat(passed).isGreaterThan((long) (perSecond * (runs - large * seconds) * 0.9));
    }
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
