package dev.evenkeel.client.internal.consume;

import dev.evenkeel.bus.ShardProgress;

/** What heartbeats report of one owned shard. Times are monotonic milliseconds. */
final class ShardReports {
  /**
   * First fetches and ends are reported as new for this long, because some heartbeats may get lost.
   */
  static final long RECENT_MILLIS = 10_000;

  /** The shard around it. */
  interface Port extends ShardPort {
    /** Since when no handler of the shard starts any more, or -1. */
    long stoppedMillis();
  }

  private final Port shard;
  private final Claims claims;
  private final Task.Owner handling;
  private final ShardMessages messages;
  private final ShardFetch fetch;
  private final ShardTakeover takeover;

  /** The position in the last report; -1: there was none. */
  private long reportedPosition = -1;

  /** Since when messages are in hand and none has finished, or -1. */
  private long stalledSinceMillis = -1;

  ShardReports(Port shard, Claims claims, ShardHandling handling, ShardTakeover takeover) {
    this.shard = shard;
    this.claims = claims;
    this.handling = handling;
    this.takeover = takeover;
    messages = handling.messages;
    fetch = handling.fetch;
  }

  /** Whether the shard was fetched for the first time lately. */
  boolean isNew(long now) {
    return fetch.firstMillis() >= 0 && now - fetch.firstMillis() <= RECENT_MILLIS;
  }

  /** Whether it has messages in hand, or has finished some since the last report. */
  boolean isActive() {
    return messages.pending() > 0
        || messages.running() > 0
        || messages.window() == null
        || messages.window().committed() != reportedPosition;
  }

  /** Whether the shard is over and its last handler ended some time ago. */
  boolean endedLongAgo(long now) {
    return messages.running() == 0 && now - endedMillis() > RECENT_MILLIS;
  }

  private long endedMillis() {
    return Math.max(shard.stoppedMillis(), messages.lastEndedMillis());
  }

  /** How many messages are not consumed, according to the last fetch; -1: there was none. */
  long lag() {
    return messages.window() == null || fetch.logEnd() < 0
        ? -1
        : Math.max(0, fetch.logEnd() - messages.window().committed());
  }

  /** The report for a heartbeat that is sent now. */
  ShardProgress progress(long now) {
    Window window = messages.window();
    reportedPosition = window == null ? -1 : window.committed();
    boolean ended = shard.stoppedMillis() >= 0 && messages.running() == 0;
    return new ShardProgress(
        shard.shard(),
        shard.epoch(),
        messages.begunOffset() < 0 ? null : (Long) messages.begunOffset(),
        isNew(now) ? (Long) (now - fetch.firstMillis()) : null,
        ended ? (Long) (now - endedMillis()) : null,
        stalledMillis(now),
        window == null ? null : (Long) window.committed(),
        messages.busyMillis(),
        messages.handledBytes());
  }

  /**
   * How long messages have been in hand while none has finished, to within the time between two
   * heartbeats; null if none is in hand. An owner that waits for the handlers of the owner before
   * it counts as having messages in hand. One whose messages wait because of a message that begins
   * with care does not.
   */
  private Long stalledMillis(long now) {
    boolean runs = messages.running() > 0;
    boolean none = messages.pending() == 0 || shard.isPaused();
    if (none && !runs && !takeover.awaitsHandler() || claims.stop(handling, runs, now)) {
      stalledSinceMillis = -1;
      return null;
    }
    if (stalledSinceMillis < 0) {
      stalledSinceMillis = now;
    }
    stalledSinceMillis = Math.max(stalledSinceMillis, messages.lastFinishedMillis());
    return now - stalledSinceMillis;
  }
}
