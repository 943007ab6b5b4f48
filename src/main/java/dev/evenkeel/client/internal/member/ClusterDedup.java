package dev.evenkeel.client.internal.member;

import dev.evenkeel.bus.DedupTally;
import dev.evenkeel.bus.Figures;
import dev.evenkeel.bus.GroupFigure;
import dev.evenkeel.client.ConsumerOptions;
import dev.evenkeel.client.internal.admission.DedupGate;
import dev.evenkeel.client.internal.admission.DedupKeys;
import dev.evenkeel.client.internal.admission.RepetitionWatch;
import dev.evenkeel.client.internal.consume.Admission;
import dev.evenkeel.client.internal.consume.ConsumerCore;
import dev.evenkeel.dedup.ClusteredCoordinator;
import dev.evenkeel.dedup.DedupFigures;
import dev.evenkeel.dedup.SharedAutomata;
import java.util.function.Function;

/**
 * Connects the {@link DedupGate} of a member with the automata that its cluster shares, through all
 * its connections. All of it happens on the consumer's context.
 */
final class ClusterDedup implements Feature {
  private static final long LAST_TICK_MILLIS = 1_000;

  /** How often the consumer retries, after its end, to give keys back. */
  private static final int LAST_TICKS = 3;

  private final MemberRun run;
  private final MemberPort consumer;
  private final Function<String, SharedAutomata> automataOf;
  private final ClusteredCoordinator coordinator;
  private final DedupGate gate;

  /** The link's session or cluster member whose automata are used, or null. */
  private String usedMember;

  private int lastTicks;

  /**
   * @param automataOf gives the automata for the link's {@code clusterMember}, or null if there are
   *     none yet
   */
  ClusterDedup(
      MemberRun run,
      MemberPort consumer,
      ConsumerCore core,
      Function<String, SharedAutomata> automataOf,
      DedupKeys keys,
      RepetitionWatch repetition) {
    this.run = run;
    this.consumer = consumer;
    this.automataOf = automataOf;
    ConsumerOptions options = run.options();
    coordinator =
        new ClusteredCoordinator(
            NoAutomata.INSTANCE,
            ClusteredCoordinator.Settings.of(options.getDedupTimeoutMillis()),
            Clock.millis());
    gate =
        new DedupGate(
            core,
            options.getMember(),
            options.getParallel(),
            keys,
            coordinator,
            task -> repetition.see(task.topic(), task.message()),
            consumer::onEvent,
            delivery -> run.safely("onDeclined", () -> run.handler().onDeclined(delivery)));
  }

  Admission step() {
    return gate;
  }

  @Override
  public void tick(long now) {
    useAutomata(now);
    gate.tick(now);
  }

  /**
   * Uses the automata of the link's present session or cluster member. After the connection was
   * lost it is another one.
   */
  private void useAutomata(long now) {
    String member = run.link().clusterMember();
    if (member == null || member.equals(usedMember)) {
      return;
    }
    SharedAutomata automata = automataOf.apply(member);
    if (automata != null) {
      usedMember = member;
      coordinator.use(automata, now);
    }
  }

  DedupTally tally(DedupTally.Repeats repeats) {
    DedupFigures figures = coordinator.figures();
    Figures counts =
        Figures.of(
            GroupFigure.Section.DEDUP,
            figures.accepted(),
            figures.blocked(),
            gate.declined(),
            figures.evicted(),
            figures.lost(),
            figures.unguarded(),
            gate.atWork(),
            figures.waiting());
    return new DedupTally(counts, repeats, gate.hot());
  }

  /** Handlers that still run keep their keys until they end. */
  @Override
  public void end(long now) {
    gate.end(now);
    run.vertx().setPeriodic(LAST_TICK_MILLIS, id -> consumer.onEvent(then -> lastTick(id, then)));
  }

  private void lastTick(long timer, long now) {
    coordinator.tick(now);
    if (gate.atWork() == 0 && ++lastTicks > LAST_TICKS) {
      run.vertx().cancelTimer(timer);
      coordinator.close(now);
    }
  }
}
