package dev.evenkeel.protocol.wire;

/**
 * What kinds of log entries a build knows. Every entry names the level that a node needs to read it
 * (see {@link Entry}). A node that meets an entry above its own level stops. A leader appends an
 * entry only if every node of the cluster has said that it reads this level.
 *
 * <pre>
 * level   new in it
 * 1       the entries of the first build
 * 2       RaiseFeatureLevel; AddActiveTime, SeeGroup with its topics; RemoveTopic and OpenShards with
 *         a floor of epochs; Grant with the owner's timeout; ForgetLeases up to an epoch. And from
 *         the first entry of this level on, entries of level 1 have other outcomes and write other
 *         records: see {@link #isFirst}
 * 3       ForgetTopic; ForgetLeases of one topic, or of none to raise epochs
 * 4       compressed batches
 * </pre>
 *
 * A new command, a new field of a command, and another outcome of a known command all need a new
 * level, once the last one has been in a release. {@link CommandCodec} says which command needs
 * which.
 */
public final class FeatureLevel {
  public static final int FIRST = 1;

  /** From here on a grant names the owner's timeout. */
  public static final int OWNER_TIMEOUT = 2;

  /** From here on batches may be compressed. */
  public static final int COMPRESSION = 4;

  /** The highest level that this build reads. */
  public static final int NEWEST = 4;

  /**
   * System property that makes a node read less than its build can. The cluster then stays at that
   * level, and the nodes can go back to the former version.
   */
  public static final String MAX_PROPERTY = "evenkeel.feature.level.max";

  private FeatureLevel() {}

  /**
   * Whether the state of a log group to which no entry above {@code level} was applied still goes
   * on as in the first build: every entry comes to the same rows as there, and the first build can
   * read all of them. So replicas of both builds agree during an upgrade, and there is a way back.
   * What that build did otherwise: times are the leaders' clocks, epochs and terms begin anew when
   * leases are forgotten, groups are seen by the clock, and a commit that empties a state leaves
   * what was held.
   */
  public static boolean isFirst(int level) {
    return level == FIRST;
  }

  /** The highest level that this node reads. */
  public static int reads() {
    return Math.max(FIRST, Math.min(NEWEST, Integer.getInteger(MAX_PROPERTY, NEWEST)));
  }
}
