package dev.evenkeel.broker.member;

import dev.evenkeel.broker.node.ClusterClock;
import dev.evenkeel.bus.MemberQuestions.ClockTime;
import dev.evenkeel.bus.MemberQuestions.Plain;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Asks the other nodes for their clocks every two seconds, and logs when a clock differs. */
final class ClockLoop {
  private static final Logger LOG = LoggerFactory.getLogger(ClockLoop.class);

  /** The action of the membership address that answers a node's clock. */
  static final String ACTION = "clock";

  private static final long ASK_MILLIS = 2_000;
  private static final long ANSWER_MILLIS_MAX = 1_000;

  private final PeerCalls calls;
  private final ClusterClock clock;
  private final Supplier<List<String>> others;
  private final Set<String> apart = new HashSet<>();
  private volatile long timer = -1;

  /**
   * @param others the other nodes now
   */
  ClockLoop(PeerCalls calls, ClusterClock clock, Supplier<List<String>> others) {
    this.calls = calls;
    this.clock = clock;
    this.others = others;
  }

  static ClockTime answer(ClusterClock clock) {
    return new ClockTime(clock.ownMillis());
  }

  void start() {
    if (!others.get().isEmpty()) {
      clock.ask(others.get().size() + 1);
    }
    timer = calls.vertx().setPeriodic(1, ASK_MILLIS, id -> askAll());
  }

  void stop() {
    calls.vertx().cancelTimer(timer);
  }

  private void askAll() {
    List<String> now = others.get();
    clock.keep(now);
    now.forEach(this::ask);
  }

  private void ask(String node) {
    long asked = clock.steadyMillis();
    calls
        .ask(node, ACTION, new Plain(), ClockTime.class, ANSWER_MILLIS_MAX)
        .onSuccess(answer -> heard(node, answer, asked))
        .onFailure(
            silent -> LOG.debug("the clock of {} is not known: {}", node, silent.toString()));
  }

  private synchronized void heard(String node, ClockTime answer, long asked) {
    clock.heard(node, answer.clockMillis(), asked);
    long skew = clock.skewMillis().get(node);
    boolean differs = Math.abs(skew) > ClusterClock.APART_MILLIS_MAX;
    if (differs && apart.add(node)) {
      LOG.warn(
          "the clock of {} is {} ms {} the clock of this node: see that NTP runs on both",
          node,
          Math.abs(skew),
          skew > 0 ? "ahead of" : "behind");
    } else if (!differs && apart.remove(node)) {
      LOG.info("the clock of {} agrees with that of this node again", node);
    }
  }
}
