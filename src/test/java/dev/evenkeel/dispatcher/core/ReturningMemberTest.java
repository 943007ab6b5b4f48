package dev.evenkeel.dispatcher.core;

import static org.assertj.core.api.Assertions.assertThat;

import dev.evenkeel.bus.Assignment;
import dev.evenkeel.bus.Heartbeat;
import dev.evenkeel.dispatcher.DispatcherOptions;
import dev.evenkeel.dispatcher.ModelLog;
import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.Reply;
import java.util.List;
import org.junit.jupiter.api.Test;

/** A member is given up for its silence, and heard again before the log has answered the grants. */
class ReturningMemberTest {
  private final ModelLog log = new ModelLog().topic(1, "t", 2);
  private final Bench bench = new Bench(log);

  /** The grants that take the shard of {@code b} away, still without an answer. */
  private List<DispatcherAction.Write> grants() {
    bench.activate(List.of());
    Heartbeat a = bench.beat("a");
    bench.send(a, bench.beat("b")).release(1).owned("ab").pass(4_000, a);
    bench.now += 1_500;
    bench.core.heartbeat(1_000, a, bench.now);
    return bench.core.tick(bench.now).stream()
        .filter(DispatcherAction.Write.class::isInstance)
        .map(DispatcherAction.Write.class::cast)
        .toList();
  }

  private Assignment answer(Heartbeat beat) {
    return bench.core.heartbeat(1_001, beat, bench.now).stream()
        .filter(DispatcherAction.Answer.class::isInstance)
        .map(action -> ((DispatcherAction.Answer) action).assignment())
        .findFirst()
        .orElseThrow();
  }

  @Test
  void isNotToldThatItOwnsWhatAnotherIsBeingGranted() {
    assertThat(grants()).hasSize(1);
    assertThat(answer(bench.beat("b")).shards()).isEmpty();
  }

  @Test
  void isToldAgainWhenTheGrantWasRefused() {
    DispatcherAction.Write grant = grants().get(0);
    Heartbeat b = bench.beat("b");
    answer(b);
    Reply no = Reply.refused(Refusal.NOT_LEADER, "");
    bench.run(bench.core.answered(grant, no, bench.now));
    bench.now += DispatcherOptions.DEFAULTS.retryMillis();
    bench.run(bench.core.tick(bench.now));
    assertThat(bench.told.get(b.instance()).shards()).hasSize(1);
    assertThat(bench.lease(1).owner()).isEqualTo("b");
  }
}
