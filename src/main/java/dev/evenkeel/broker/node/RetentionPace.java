package dev.evenkeel.broker.node;

import dev.evenkeel.broker.state.DataTables;
import dev.evenkeel.broker.state.ShardRecord;
import dev.evenkeel.broker.state.TopicRecord;
import dev.evenkeel.protocol.Lease;
import dev.evenkeel.protocol.Shard;
import dev.evenkeel.protocol.TopicConfig;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.LongStream;

/**
 * When retention runs in a data log group: each minute, and for topics that keep messages for a
 * short time four times in that time, but not more often than once a second. The latter ends soon
 * after nothing is sent or consumed any more, so that the log of an idle topic does not grow.
 */
final class RetentionPace {
  static final long MILLIS_MAX = 60_000;
  static final long MILLIS_MIN = 1_000;

  /** Runs in the time for which messages are kept. */
  private static final int RUNS = 4;

  /**
   * After the time is over: the run that notes what is consumed may be late, and so may the last.
   */
  private static final int RUNS_AFTER = 3;

  /**
   * @param places of the topic's shards: starts, ends, and what every group has consumed
   * @param untilMillis something may follow from these places until then
   */
  private record Seen(List<Long> places, long untilMillis) {}

  private final Map<Integer, Seen> seen = new HashMap<>();
  private long lastMillis;

  /**
   * @param nowMillis of a clock that does not jump
   */
  RetentionPace(long nowMillis) {
    lastMillis = nowMillis;
  }

  /** Whether it is to run now. To be called once a second. */
  boolean due(DataTables tables, long nowMillis) {
    long every = MILLIS_MAX;
    for (TopicRecord topic : tables.topics()) {
      long shortest = times(topic.config()).min().orElse(Long.MAX_VALUE);
      if (topic.dropped() || shortest / RUNS >= MILLIS_MAX) {
        seen.remove(topic.id());
        continue;
      }
      long its = Math.max(MILLIS_MIN, shortest / RUNS);
      List<Long> places = places(tables, topic.id());
      Seen before = seen.get(topic.id());
      if (before == null || !before.places().equals(places)) {
        long longest = times(topic.config()).max().orElse(0);
        before = new Seen(places, nowMillis + longest + RUNS_AFTER * its);
        seen.put(topic.id(), before);
      }
      if (nowMillis < before.untilMillis()) {
        every = Math.min(every, its);
      }
    }
    boolean due = nowMillis - lastMillis >= every;
    if (due) {
      lastMillis = nowMillis;
    }
    return due;
  }

  /** The short ones of the times for which the topic keeps messages. */
  private static LongStream times(TopicConfig config) {
    return LongStream.of(config.retentionMillis(), config.ageMillisMax())
        .filter(millis -> millis >= 0 && millis / RUNS < MILLIS_MAX);
  }

  private static List<Long> places(DataTables tables, int topicId) {
    List<Long> places = new ArrayList<>();
    for (Shard shard : tables.shardsOf(topicId)) {
      ShardRecord record = tables.shard(shard);
      if (record != null) {
        places.add(record.start());
        places.add(record.end());
        places.add(tables.leasesOn(shard).stream().mapToLong(Lease::floor).min().orElse(-1));
      }
    }
    return places;
  }
}
