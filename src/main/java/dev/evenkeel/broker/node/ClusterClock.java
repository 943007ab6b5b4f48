package dev.evenkeel.broker.node;

import java.util.Arrays;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.function.LongSupplier;
import java.util.stream.LongStream;

/**
 * The clock that a node writes into entries of the log: its own, as long as that agrees with the
 * clocks of most nodes, else the middle one of all. Of an even number the lower middle one: nothing
 * becomes due too early because one of two clocks is ahead.
 *
 * <p>A clock of another node is known to lie between the sending of a question and its answer. One
 * that may be within {@link #APART_MILLIS_MAX} of the own clock counts as agreeing. What was heard
 * of a node counts on when it can be reached no more: it is kept against a clock of this machine
 * that does not jump. May be used from any thread.
 */
public final class ClusterClock {
  /** Clocks that differ by no more agree. */
  public static final long APART_MILLIS_MAX = 1_000;

  /** How long the clocks of all nodes are waited for; then those that have answered decide. */
  static final long PATIENCE_MILLIS = 10_000;

  /**
   * Between which values another node's clock is ahead of the clock of this machine that does not
   * jump.
   */
  private record Ahead(long atLeast, long atMost) {
    long nearest(long millis) {
      return Math.max(atLeast - APART_MILLIS_MAX, Math.min(atMost + APART_MILLIS_MAX, millis));
    }

    long middle() {
      return atLeast + (atMost - atLeast) / 2;
    }
  }

  private final LongSupplier clockMillis;
  private final LongSupplier steadyMillis;
  private final Map<String, Ahead> others = new ConcurrentSkipListMap<>();
  private volatile int nodes = 1;
  private volatile long patientUntilMillis;

  /**
   * @param clockMillis the node's clock, milliseconds since 1970
   * @param steadyMillis a clock of this machine that does not jump
   */
  public ClusterClock(LongSupplier clockMillis, LongSupplier steadyMillis) {
    this.clockMillis = clockMillis;
    this.steadyMillis = steadyMillis;
  }

  /** Other nodes are asked for their clocks from now on. */
  public void ask(int nodesInCluster) {
    patientUntilMillis = steadyMillis.getAsLong() + PATIENCE_MILLIS;
    nodes = nodesInCluster;
  }

  /** The node's own clock. */
  public long ownMillis() {
    return clockMillis.getAsLong();
  }

  /** The clock of this machine that does not jump. */
  public long steadyMillis() {
    return steadyMillis.getAsLong();
  }

  /**
   * Another node has answered.
   *
   * @param itsMillis what its own clock said
   * @param askedMillis {@link #steadyMillis} before the question
   */
  public void heard(String node, long itsMillis, long askedMillis) {
    others.put(node, new Ahead(itsMillis - steadyMillis.getAsLong(), itsMillis - askedMillis));
  }

  /** What the cluster takes for the time, in milliseconds since 1970. */
  public long millis() {
    return ownMillis() + correctionMillis();
  }

  /** What is added to the own clock: 0 as long as it agrees with most others. */
  public long correctionMillis() {
    if (others.isEmpty()) {
      return 0;
    }
    long own = ownMillis() - steadyMillis.getAsLong();
    long[] ahead =
        LongStream.concat(
                LongStream.of(own), others.values().stream().mapToLong(each -> each.nearest(own)))
            .toArray();
    Arrays.sort(ahead);
    return ahead[(ahead.length - 1) / 2] - own;
  }

  /**
   * Whether the clocks of most nodes are known, or were asked for in vain for long enough. Before
   * that nothing should be done early because of this clock.
   */
  public boolean settled() {
    return (others.size() + 1) * 2 > nodes || steadyMillis.getAsLong() >= patientUntilMillis;
  }

  /** By how much the clocks of the others are ahead of the own one, by node. */
  public Map<String, Long> skewMillis() {
    long own = ownMillis() - steadyMillis.getAsLong();
    Map<String, Long> skews = new TreeMap<>();
    others.forEach((node, ahead) -> skews.put(node, ahead.middle() - own));
    return skews;
  }
}
