package dev.evenkeel.gateway.live;

import static java.util.stream.Collectors.joining;

import dev.evenkeel.api.GroupView;
import dev.evenkeel.api.GroupView.Dedup;
import dev.evenkeel.api.GroupView.Level;
import dev.evenkeel.api.GroupView.Member;
import dev.evenkeel.api.GroupView.Shard;
import dev.evenkeel.api.GroupView.Singleton;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Makes the groups of the live state from the answers of the dispatcher. It adds rates and times of
 * lag, which it takes from several answers.
 */
final class LiveGroups {
  /** Members report their count and their positions every second. */
  private static final long WINDOW_MILLIS = 5_000;

  private final Kept<EndHistory> ends = new Kept<>();
  private final Kept<Meter> meters = new Kept<>();

  /** The state's groups. */
  Map<String, Object> take(List<GroupView> groups, long nowMillis) {
    ends.next();
    meters.next();
    Map<String, Object> all = new LinkedHashMap<>();
    groups.forEach(group -> all.put(group.group(), group(group, nowMillis)));
    return all;
  }

  private Map<String, Object> group(GroupView group, long nowMillis) {
    String name = group.group();
    Singleton singleton = group.singleton();
    Map<String, Object> members = new LinkedHashMap<>();
    for (Member member : group.members()) {
      Map<String, Object> figures = member(name, member, nowMillis);
      if (singleton != null && member.member().equals(singleton.leader())) {
        Json.put(figures, "leadsTerm", singleton.term());
      }
      members.put(member.member(), figures);
    }
    Sums sums = new Sums();
    Map<String, Object> shards = new LinkedHashMap<>();
    for (Shard shard : group.shards()) {
      // The group has nothing to do with one any more that is finished.
      if (!Boolean.TRUE.equals(shard.finished())) {
        shards.put(shard.name(), shard(name + " " + shard.name(), shard, sums, nowMillis));
      }
    }
    Map<String, Object> state = Json.copy(group, "mode", "assignor", "status");
    Json.put(state, "topicsLeftOut", group.topicsLeftOut() == 0 ? null : group.topicsLeftOut());
    Json.put(state, "paused", group.paused() ? true : null);
    Json.put(state, "shardsPaused", sums.paused == 0 ? null : sums.paused);
    Json.put(state, "lag", sums.lag);
    Json.put(state, "lagSeconds", seconds(sums.lagMillis));
    Json.put(state, "rate", Json.rounded(sums.rate));
    Json.put(state, "members", members);
    Json.put(state, "shards", shards);
    Json.put(state, "level", level(group.level()));
    Json.put(state, "dedup", dedup(group.dedup()));
    Json.put(state, "failures", failures(group));
    return state;
  }

  private Map<String, Object> member(String group, Member member, long nowMillis) {
    // Two spaces, so that it differs from the key of any shard.
    Meter meter = meters.of(group + "  " + member.member(), () -> new Meter(WINDOW_MILLIS));
    if (member.consumed() != null) {
      meter.add(nowMillis, member.consumed());
    }
    Map<String, Object> state = Json.copy(member, "node", "host", "consumed");
    Json.put(state, "rate", Json.rounded(meter.perSecond()));
    Json.put(state, "stuckMs", member.stuckMs());
    Json.put(state, "stuck", member.stuck() == null ? null : (Long) (long) member.stuck().size());
    Json.put(state, "breaker", member.breaker() == null ? null : member.breaker().word());
    Json.put(state, "lastHeartbeatMs", member.lastHeartbeatMs());
    Json.put(state, "shards", (long) member.shards().size());
    return state;
  }

  private Map<String, Object> shard(String meterKey, Shard shard, Sums sums, long nowMillis) {
    Long reached = shard.position() == null ? shard.committed() : shard.position();
    EndHistory history = ends.of(shard.name(), EndHistory::new);
    if (shard.end() != null) {
      history.add(nowMillis, shard.end());
    }
    Meter meter = meters.of(meterKey, () -> new Meter(WINDOW_MILLIS));
    if (reached != null) {
      meter.add(nowMillis, reached);
    }
    Long lagMillis = lagMillis(history, reached, shard.lag(), nowMillis);
    Double rate = meter.perSecond();
    sums.add(shard.lag(), lagMillis, rate);
    sums.paused += shard.paused() ? 1 : 0;
    Map<String, Object> state =
        Json.copy(shard, "topic", "shard", "owner", "nextOwner", "drainDeadline", "epoch");
    Json.put(state, "state", shard.state() == null ? null : shard.state().name());
    Json.copy(shard, state, "position", "committed", "end", "lag");
    Json.put(state, "lagSeconds", seconds(lagMillis));
    Json.put(state, "rate", Json.rounded(rate));
    Json.put(state, "sealed", shard.sealed() ? true : null);
    Json.put(state, "paused", shard.paused() ? true : null);
    if (shard.crashes() != null) {
      Json.put(state, "crashes", (long) shard.crashes().count());
      Json.put(state, "suspect", shard.crashes().offset());
    }
    if (shard.skipped() != null) {
      Json.put(state, "skipped", shard.skipped().total());
      Json.put(state, "skippedFrom", shard.skipped().first());
      Json.put(state, "skippedTo", shard.skipped().last());
    }
    if (!shard.waitsFor().isEmpty()) {
      Json.put(
          state, "waitsFor", shard.waitsFor().stream().map(String::valueOf).collect(joining(", ")));
    }
    return state;
  }

  /**
   * The part of a group's state for mode level. Bars are fields with the names of their members, so
   * that patches stay small.
   *
   * @param level from the answer of the dispatcher, or null
   * @return null if the group is not in mode level
   */
  static Map<String, Object> level(Level level) {
    if (level == null || level.range() == null) {
      return null;
    }
    Map<String, Object> state =
        Json.copy(level, "range", "strategy", "gap", "round", "holder", "heldMs", "setAside");
    Map<String, Object> bars = new LinkedHashMap<>();
    if (level.bars() != null) {
      for (Level.Bar each : level.bars()) {
        bars.put(each.member(), Json.copy(each, "finished", "inHand"));
      }
    }
    Json.put(state, "bars", bars);
    return state;
  }

  /**
   * The part of a group's state for deduplication: what it does, or would do.
   *
   * @param dedup from the answer of the dispatcher, or null
   * @return null if it is off and no repeated messages are known
   */
  static Map<String, Object> dedup(Dedup dedup) {
    if (dedup == null) {
      return null;
    }
    Dedup.Repetition repetition = dedup.repetition();
    String level = repetition == null ? null : repetition.level();
    boolean on = dedup.mode() != null && !dedup.mode().equals("off");
    if (!on && (level == null || level.equals("none"))) {
      return null;
    }
    Map<String, Object> state = Json.copy(dedup, "mode");
    if (on) {
      Json.put(state, "savedPercent", percent(dedup.savedShare()));
      Json.copy(dedup, state, "declined", "processing", "waiting", "lost");
      Map<String, Object> hot = new LinkedHashMap<>();
      dedup.hot().forEach(each -> hot.put(each.key(), each.declined()));
      Json.put(state, "hot", hot);
    }
    Json.put(state, "repetition", level);
    Json.put(
        state, "wouldSavePercent", repetition == null ? null : percent(repetition.declinedShare()));
    return state;
  }

  private static Number percent(Double share) {
    return share == null ? null : Json.rounded(share * 100);
  }

  /**
   * The part of a group's state for failed messages.
   *
   * @param group from the answer of the dispatcher
   * @return null if there are none; without the counts if they are unknown
   */
  static Map<String, Object> failures(GroupView group) {
    Map<String, Object> state = new LinkedHashMap<>();
    long sum = 0;
    if (group.failures() != null) {
      Json.copy(
          group.failures(), state, "retriesWaiting", "parked", "shardsWaiting", "deadLetters");
      sum = state.values().stream().mapToLong(count -> (Long) count).sum();
    }
    long open =
        group.members().stream().filter(member -> member.breaker() == Member.Breaker.OPEN).count();
    Json.put(state, "breakersOpen", open);
    return sum + open == 0 ? null : state;
  }

  private static Long lagMillis(EndHistory history, Long reached, Long lag, long nowMillis) {
    if (reached == null || lag == null) {
      return null;
    }
    return lag == 0 ? (Long) 0L : history.ageMillis(reached, nowMillis);
  }

  private static Number seconds(Long millis) {
    return millis == null ? null : Json.rounded(millis / 1000.0);
  }

  /** Sums over the shards of a group. */
  private static final class Sums {
    Long lag = 0L;
    Long lagMillis = 0L;
    Double rate;
    long paused;

    void add(Long shardLag, Long shardLagMillis, Double shardRate) {
      lag = lag == null || shardLag == null ? null : (Long) (lag + shardLag);
      lagMillis =
          lagMillis == null || shardLagMillis == null
              ? null
              : (Long) Math.max(lagMillis, shardLagMillis);
      if (shardRate != null) {
        rate = rate == null ? shardRate : (Double) (rate + shardRate);
      }
    }
  }
}
