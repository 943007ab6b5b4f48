package dev.evenkeel.dispatcher.core;

import dev.evenkeel.protocol.GroupPolicy;
import java.util.Set;

/**
 * What the dispatcher may be told.
 *
 * @param rebalanceMillis how often everything is read and planned again, as a safety net
 * @param memberTimeoutMillis how long an owner that is known only by its lease counts as alive at
 *     least; a member's own timeout is in its heartbeats and in its leases
 * @param retryMillis pause of a shard after a request to the log failed
 * @param groupSeenMillis how often a group with members is marked as seen
 * @param groupForgetMillis a group without members for so long, while a dispatcher was active, is
 *     forgotten
 * @param writesInFlightMax requests to the log at once for one group
 * @param membersMax members of all groups together
 * @param heldMax heartbeats that wait for the log at once
 * @param joinQuietMillis a plan for members that join waits until none has joined for so long; 0:
 *     it does not wait
 * @param joinWaitMillisMax longest wait of a plan for members that join, from the first of them
 * @param modes modes that members may ask for
 */
public record DispatcherSettings(
    long rebalanceMillis,
    long memberTimeoutMillis,
    long retryMillis,
    long groupSeenMillis,
    long groupForgetMillis,
    int writesInFlightMax,
    int membersMax,
    int heldMax,
    long joinQuietMillis,
    long joinWaitMillisMax,
    Set<String> modes) {

  public static final DispatcherSettings DEFAULT =
      new DispatcherSettings(
          5_000,
          5_000,
          500,
          3_600_000,
          7L * 24 * 3_600_000,
          128,
          10_000,
          10_000,
          100,
          1_000,
          Set.of(
              GroupPolicy.MODE_SHARDED,
              GroupPolicy.MODE_LEVEL,
              GroupPolicy.MODE_BROADCAST,
              GroupPolicy.MODE_SINGLETON));

  public DispatcherSettings withTimes(long rebalance, long memberTimeout, long retry) {
    return new DispatcherSettings(
        rebalance,
        memberTimeout,
        retry,
        groupSeenMillis,
        groupForgetMillis,
        writesInFlightMax,
        membersMax,
        heldMax,
        joinQuietMillis,
        joinWaitMillisMax,
        modes);
  }

  public DispatcherSettings withJoinWindow(long quietMillis, long waitMillisMax) {
    return new DispatcherSettings(
        rebalanceMillis,
        memberTimeoutMillis,
        retryMillis,
        groupSeenMillis,
        groupForgetMillis,
        writesInFlightMax,
        membersMax,
        heldMax,
        quietMillis,
        waitMillisMax,
        modes);
  }

  /** With members that are marked as seen often enough for that. */
  public DispatcherSettings withGroupForget(long millis) {
    return new DispatcherSettings(
        rebalanceMillis,
        memberTimeoutMillis,
        retryMillis,
        Math.min(DEFAULT.groupSeenMillis, millis / 8),
        millis,
        writesInFlightMax,
        membersMax,
        heldMax,
        joinQuietMillis,
        joinWaitMillisMax,
        modes);
  }

  public DispatcherSettings withModes(Set<String> newModes) {
    return new DispatcherSettings(
        rebalanceMillis,
        memberTimeoutMillis,
        retryMillis,
        groupSeenMillis,
        groupForgetMillis,
        writesInFlightMax,
        membersMax,
        heldMax,
        joinQuietMillis,
        joinWaitMillisMax,
        newModes);
  }
}
