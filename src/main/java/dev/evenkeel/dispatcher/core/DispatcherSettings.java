package dev.evenkeel.dispatcher.core;

/**
 * Settings of the dispatcher.
 *
 * @param rebalanceMillis how often everything is read and planned again, as a safety net
 * @param memberTimeoutMillis how long an owner that is known only by its lease counts as alive at
 *     least; a member's own timeout is in its heartbeats and in its leases
 * @param retryMillis pause of a shard after a request to the log failed
 * @param groupSeenMillis how often a group with members is marked as seen
 * @param groupForgetMillis a group without members for so long, while a dispatcher was active, is
 *     forgotten
 * @param joinQuietMillis a plan for members that join waits until none has joined for so long; 0:
 *     it does not wait. Large groups wait longer; see {@link GroupPlan}
 * @param joinWaitMillisMax longest wait of a plan for members that join, from the first of them. It
 *     grows with the group as the other one does
 */
public record DispatcherSettings(
    long rebalanceMillis,
    long memberTimeoutMillis,
    long retryMillis,
    long groupSeenMillis,
    long groupForgetMillis,
    long joinQuietMillis,
    long joinWaitMillisMax) {

  /** Requests to the log at once for one group; they are joined on the way. */
  static final int WRITES_IN_FLIGHT_MAX = 2_000;

  /** Members of all groups together. */
  static final int MEMBERS_MAX = 10_000;

  /**
   * Most characters of the filters of all groups. In mode level each member counts, because the
   * registry has its filter.
   */
  static final long FILTER_CHARS_MAX = 64L << 20;

  /** Shorter filters are not counted when a member joins. */
  static final long FILTER_CHARS_LARGE = 4 << 10;

  public static final long RETRY_MILLIS = 500;

  public static final long GROUP_SEEN_MILLIS = 3_600_000;
}
