package dev.evenkeel.client.internal.consume;

import dev.evenkeel.bus.Heartbeat;
import dev.evenkeel.bus.ShardProgress;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

/**
 * What heartbeats tell of single shards. First those that a move is about: let go of within the
 * last {@link #RECENT_MILLIS}, or fetched for the first time within it. Then the others that are
 * held, in turns if they are too many for one heartbeat. Times are monotonic milliseconds.
 */
final class ProgressReports {
  /** Long enough for several heartbeats, as some may get lost. */
  static final long RECENT_MILLIS = 10_000;

  private final ArrayDeque<OwnedShard> former = new ArrayDeque<>();
  private int turn;

  /** A hold is over; handlers of it may still run. */
  void gone(OwnedShard hold) {
    if (former.size() == Heartbeat.MARKS_MAX) {
      former.removeFirst();
    }
    former.addLast(hold);
  }

  /**
   * @param held now
   */
  List<ShardProgress> take(List<OwnedShard> held, long now) {
    former.removeIf(hold -> hold.running == 0 && now - endedMillis(hold) > RECENT_MILLIS);
    List<ShardProgress> marks = new ArrayList<>();
    former.forEach(hold -> marks.add(mark(hold, now)));
    List<OwnedShard> settled = new ArrayList<>();
    for (OwnedShard hold : held) {
      if (marks.size() < Heartbeat.MARKS_MAX && isNew(hold, now)) {
        marks.add(mark(hold, now));
      } else {
        settled.add(hold);
      }
    }
    int room = Math.min(settled.size(), Heartbeat.MARKS_MAX - marks.size());
    if (room > 0) {
      turn %= settled.size();
      Collections.rotate(settled, -turn);
      settled.subList(0, room).forEach(hold -> marks.add(mark(hold, now)));
      turn += room;
    }
    return marks;
  }

  private static boolean isNew(OwnedShard hold, long now) {
    return hold.firstFetchMillis >= 0 && now - hold.firstFetchMillis <= RECENT_MILLIS;
  }

  private static long endedMillis(OwnedShard hold) {
    return Math.max(hold.stoppedMillis, hold.lastEndedMillis);
  }

  private static ShardProgress mark(OwnedShard hold, long now) {
    boolean ended = hold.stoppedMillis >= 0 && hold.running == 0;
    return new ShardProgress(
        hold.shard,
        hold.epoch,
        hold.begunOffset < 0 ? null : (Long) hold.begunOffset,
        isNew(hold, now) ? (Long) (now - hold.firstFetchMillis) : null,
        ended ? (Long) (now - endedMillis(hold)) : null,
        stalledMillis(hold, now));
  }

  /**
   * For how long something has been in hand while nothing was finished, to within the time between
   * two heartbeats; null if nothing is in hand. A new hold that waits for the handlers of the one
   * before it to end has these in hand.
   */
  private static Long stalledMillis(OwnedShard hold, long now) {
    boolean assigning = hold.state == OwnedShardState.ASSIGNING && hold.assignCalled;
    boolean waiting = hold.predecessor != null && !hold.predecessor.quiet();
    if (hold.pendingMessages == 0 && hold.running == 0 && !assigning && !waiting) {
      hold.stalledSinceMillis = -1;
      return null;
    }
    if (hold.stalledSinceMillis < 0) {
      hold.stalledSinceMillis = now;
    }
    hold.stalledSinceMillis = Math.max(hold.stalledSinceMillis, hold.lastFinishedMillis);
    return now - hold.stalledSinceMillis;
  }
}
