package dev.evenkeel.dispatcher.core;

import dev.evenkeel.dispatcher.DispatcherOptions;

/** Settings of dispatchers in tests: some with a part replaced. */
public final class TestSettings {
  private TestSettings() {}

  /** The default, without a wait for members that join. */
  public static DispatcherSettings atOnce() {
    return withJoinWindow(DispatcherOptions.DEFAULTS, 0, 0);
  }

  public static DispatcherSettings withTimes(
      DispatcherSettings of, long rebalance, long memberTimeout, long retry) {
    return new DispatcherSettings(
        rebalance,
        memberTimeout,
        retry,
        of.groupSeenMillis(),
        of.groupForgetMillis(),
        of.joinQuietMillis(),
        of.joinWaitMillisMax());
  }

  public static DispatcherSettings withJoinWindow(
      DispatcherSettings of, long quietMillis, long waitMillisMax) {
    return new DispatcherSettings(
        of.rebalanceMillis(),
        of.memberTimeoutMillis(),
        of.retryMillis(),
        of.groupSeenMillis(),
        of.groupForgetMillis(),
        quietMillis,
        waitMillisMax);
  }

  /** With members that are marked as seen often enough for that. */
  public static DispatcherSettings withGroupForget(DispatcherSettings of, long millis) {
    return new DispatcherSettings(
        of.rebalanceMillis(),
        of.memberTimeoutMillis(),
        of.retryMillis(),
        Math.min(DispatcherSettings.GROUP_SEEN_MILLIS, millis / 8),
        millis,
        of.joinQuietMillis(),
        of.joinWaitMillisMax());
  }
}
