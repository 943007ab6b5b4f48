package dev.evenkeel.client.internal.consume;

import dev.evenkeel.bus.Heartbeat;
import dev.evenkeel.bus.ShardProgress;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

/**
 * What heartbeats report of single shards. First those that a move is about: given away within the
 * last {@link OwnedShard#RECENT_MILLIS}, or fetched for the first time within it. Then the others
 * that are owned, in turns if they are too many for one heartbeat. Times are monotonic
 * milliseconds.
 */
final class ProgressReports {
  private final ArrayDeque<OwnedShard> former = new ArrayDeque<>();
  private int turn;

  /** A shard was released or lost; handlers of it may still run. */
  void gone(OwnedShard shard) {
    if (former.size() == Heartbeat.MARKS_MAX) {
      former.removeFirst();
    }
    former.addLast(shard);
  }

  /**
   * @param owned now
   */
  List<ShardProgress> take(List<OwnedShard> owned, long now) {
    former.removeIf(shard -> shard.endedLongAgo(now));
    List<ShardProgress> reports = new ArrayList<>();
    former.forEach(shard -> reports.add(shard.progress(now)));
    List<OwnedShard> settled = new ArrayList<>();
    for (OwnedShard shard : owned) {
      if (reports.size() < Heartbeat.MARKS_MAX && shard.isNew(now)) {
        reports.add(shard.progress(now));
      } else {
        settled.add(shard);
      }
    }
    int room = Math.min(settled.size(), Heartbeat.MARKS_MAX - reports.size());
    if (room > 0) {
      turn %= settled.size();
      Collections.rotate(settled, -turn);
      settled.subList(0, room).forEach(shard -> reports.add(shard.progress(now)));
      turn += room;
    }
    return reports;
  }
}
