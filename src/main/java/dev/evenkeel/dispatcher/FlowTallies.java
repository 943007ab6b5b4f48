package dev.evenkeel.dispatcher;

import dev.evenkeel.bus.FlowTally;
import dev.evenkeel.bus.Heartbeat;
import dev.evenkeel.dispatcher.core.DispatcherCore;

/** Sums what members tell of their rates. */
final class FlowTallies {
  private final MemberTallies<FlowTally.Rates, FlowTally.Rates> members =
      new MemberTallies<>(FlowTallies::rates, FlowTally.Rates::past, FlowTally.Rates::plus);

  private static FlowTally.Rates rates(Heartbeat beat) {
    return beat.flow() == null ? null : beat.flow().rates();
  }

  /** To be called once a second or so, and before the figures are read. */
  void observe(DispatcherCore core) {
    members.observe(core);
  }

  /** The last words of a run that leaves. */
  void leaving(Heartbeat beat) {
    members.leaving(beat);
  }

  /** The sum for a group; null: nobody has told. */
  FlowTally.Rates of(String group) {
    FlowTally.Rates sum = members.past(group);
    for (FlowTally.Rates each : members.told(group)) {
      sum = sum == null ? each : sum.plus(each);
    }
    return sum;
  }
}
