package dev.evenkeel.broker.node;

import java.util.Arrays;
import java.util.Collection;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.function.LongSupplier;
import java.util.stream.LongStream;

/**
 * The clock that a node writes into log entries: its own clock if that agrees with the clocks of
 * most nodes, else the median of all clocks. Of an even number it takes the lower middle one, so
 * that nothing becomes due too early because one of two clocks is ahead.
 *
 * <p>Another node has read its clock at some moment between the sending of the question and the
 * arrival of the answer. A clock that may be within {@link #APART_MILLIS_MAX} of the own one agrees
 * with it. What is known of a node's clock stays when the node cannot be reached any more: it is
 * stored relative to a monotonic clock of this machine. May be used from any thread.
 */
public final class ClusterClock {
  /** Clocks that differ by no more agree. */
  public static final long APART_MILLIS_MAX = 1_000;

  /** How long this node waits for the clocks of all nodes; then those that have answered decide. */
  static final long PATIENCE_MILLIS = 10_000;

  /**
   * By how much another node's clock is ahead of this machine's monotonic clock: at least and at
   * most.
   */
  private record Ahead(long atLeast, long atMost) {
    /**
     * {@code millis} if that agrees; else the earliest that it can be, so that nothing is early.
     */
    long orOwn(long millis) {
      boolean agrees = millis >= atLeast - APART_MILLIS_MAX && millis <= atMost + APART_MILLIS_MAX;
      return agrees ? millis : atLeast;
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
   * @param steadyMillis a monotonic clock of this machine
   */
  public ClusterClock(LongSupplier clockMillis, LongSupplier steadyMillis) {
    this.clockMillis = clockMillis;
    this.steadyMillis = steadyMillis;
  }

  /** This node asks the others for their clocks from now on. */
  public void ask(int nodesInCluster) {
    patientUntilMillis = steadyMillis.getAsLong() + PATIENCE_MILLIS;
    nodes = nodesInCluster;
  }

  /** The node's own clock. */
  public long ownMillis() {
    return clockMillis.getAsLong();
  }

  /** The monotonic clock of this machine. */
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

  /** Forgets the clocks of all but these other nodes. */
  public void keep(Collection<String> nodeIds) {
    others.keySet().retainAll(nodeIds);
    nodes = nodeIds.size() + 1;
  }

  /** The cluster's time, in milliseconds since 1970. */
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
                LongStream.of(own), others.values().stream().mapToLong(each -> each.orOwn(own)))
            .toArray();
    Arrays.sort(ahead);
    return ahead[(ahead.length - 1) / 2] - own;
  }

  /**
   * Whether the clocks of most nodes are known, or the node has waited long enough for them. Before
   * that, nothing should happen early because of this clock.
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
