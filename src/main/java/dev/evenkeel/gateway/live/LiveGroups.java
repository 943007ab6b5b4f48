package dev.evenkeel.gateway.live;

import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * The groups of the state, from what the dispatcher answers: adds rates and times of lag, which
 * come of several answers. What an answer does not name is forgotten.
 */
final class LiveGroups {
  /** Progress is committed every 5 s or so: a shorter time would show jumps. */
  private static final long COMMIT_WINDOW_MILLIS = 10_000;

  /** Members tell their count every second. */
  private static final long MEMBER_WINDOW_MILLIS = 5_000;

  private final Kept<EndHistory> ends = new Kept<>();
  private final Kept<Meter> meters = new Kept<>();

  /** The state's groups. */
  Map<String, Object> take(List<JsonObject> groups, long nowMillis) {
    ends.next();
    meters.next();
    Map<String, Object> all = new LinkedHashMap<>();
    for (JsonObject group : groups) {
      all.put(group.getString("group"), group(group, nowMillis));
    }
    return all;
  }

  private Map<String, Object> group(JsonObject group, long nowMillis) {
    String name = group.getString("group");
    JsonObject singleton = group.getJsonObject("singleton", new JsonObject());
    Map<String, Object> members = new LinkedHashMap<>();
    for (JsonObject member : Json.objects(group.getJsonArray("members"))) {
      Map<String, Object> figures = member(name, member, nowMillis);
      if (member.getString("member").equals(singleton.getString("leader"))) {
        Json.put(figures, "leadsTerm", singleton.getLong("term"));
      }
      members.put(member.getString("member"), figures);
    }
    Sums sums = new Sums();
    Map<String, Object> shards = new LinkedHashMap<>();
    for (JsonObject shard : Json.objects(group.getJsonArray("shards"))) {
      String key = shard.getString("topic") + "/" + shard.getInteger("shard");
      shards.put(key, shard(name + " " + key, key, shard, sums, nowMillis));
    }
    Map<String, Object> state = Json.copy(group, "mode", "assignor", "status");
    Json.put(state, "lag", sums.lag);
    Json.put(state, "lagSeconds", seconds(sums.lagMillis));
    Json.put(state, "rate", Json.rounded(sums.rate));
    state.put("members", members);
    state.put("shards", shards);
    Json.put(state, "level", level(group.getJsonObject("level")));
    Json.put(state, "dedup", dedup(group.getJsonObject("dedup")));
    Json.put(state, "failures", failures(group));
    return state;
  }

  private Map<String, Object> member(String group, JsonObject member, long nowMillis) {
    Map<String, Object> state = Json.copy(member, "node", "host", "consumed");
    Long consumed = member.getLong("consumed");
    // Two spaces: no shard's key looks like it.
    Meter meter =
        meters.of(group + "  " + member.getString("member"), () -> new Meter(MEMBER_WINDOW_MILLIS));
    if (consumed != null) {
      meter.add(nowMillis, consumed);
    }
    Json.put(state, "rate", Json.rounded(meter.perSecond()));
    Json.copy(member, state, "stuckMs");
    JsonArray stuck = member.getJsonArray("stuck");
    Json.put(state, "stuck", stuck == null ? null : (Long) (long) stuck.size());
    Json.copy(member, state, "breaker", "lastHeartbeatMs");
    state.put("shards", (long) member.getJsonArray("shards").size());
    return state;
  }

  private Map<String, Object> shard(
      String meterKey, String endKey, JsonObject shard, Sums sums, long nowMillis) {
    Long committed = shard.getLong("committed");
    Long end = shard.getLong("end");
    Long lag = shard.getLong("lag");
    EndHistory history = ends.of(endKey, EndHistory::new);
    if (end != null) {
      history.add(nowMillis, end);
    }
    Meter meter = meters.of(meterKey, () -> new Meter(COMMIT_WINDOW_MILLIS));
    if (committed != null) {
      meter.add(nowMillis, committed);
    }
    Long lagMillis = lagMillis(history, committed, lag, nowMillis);
    Double rate = meter.perSecond();
    sums.add(lag, lagMillis, rate);
    Map<String, Object> state =
        Json.copy(
            shard,
            "topic",
            "shard",
            "owner",
            "nextOwner",
            "drainDeadline",
            "epoch",
            "state",
            "committed",
            "end",
            "lag");
    Json.put(state, "lagSeconds", seconds(lagMillis));
    Json.put(state, "rate", Json.rounded(rate));
    return state;
  }

  /**
   * Bars are by their members' names, so that changes stay small.
   *
   * @param level as the dispatcher answers, or null
   * @return null if the group is not in mode level
   */
  static Map<String, Object> level(JsonObject level) {
    if (level == null || level.getLong("range") == null) {
      return null;
    }
    Map<String, Object> state =
        Json.copy(level, "range", "strategy", "gap", "round", "holder", "heldMs", "setAside");
    Map<String, Object> bars = new LinkedHashMap<>();
    for (JsonObject bar : Json.objects(level.getJsonArray("bars"))) {
      bars.put(bar.getString("member"), Json.copy(bar, "finished", "inHand"));
    }
    state.put("bars", bars);
    return state;
  }

  /**
   * What deduplication does, or would do, for a group.
   *
   * @param dedup as the dispatcher answers, or null
   * @return null if it is off and the group's messages are not known to repeat themselves
   */
  static Map<String, Object> dedup(JsonObject dedup) {
    if (dedup == null) {
      return null;
    }
    JsonObject repetition = dedup.getJsonObject("repetition", new JsonObject());
    String level = repetition.getString("level");
    String mode = dedup.getString("mode");
    boolean on = mode != null && !mode.equals("off");
    if (!on && (level == null || level.equals("none"))) {
      return null;
    }
    Map<String, Object> state = Json.copy(dedup, "mode");
    if (on) {
      Json.put(state, "savedPercent", percent(dedup.getDouble("savedShare")));
      Json.copy(dedup, state, "declined", "processing", "waiting", "lost");
      Map<String, Object> hot = new LinkedHashMap<>();
      for (JsonObject each : Json.objects(dedup.getJsonArray("hot"))) {
        hot.put(each.getString("key"), each.getLong("declined"));
      }
      state.put("hot", hot);
    }
    Json.put(state, "repetition", level);
    Json.put(state, "wouldSavePercent", percent(repetition.getDouble("declinedShare")));
    return state;
  }

  private static Number percent(Double share) {
    return share == null ? null : Json.rounded(share * 100);
  }

  /**
   * What a group has of messages that failed.
   *
   * @param group as the dispatcher answers
   * @return null if nothing of the kind is known; without figures if they are not known
   */
  static Map<String, Object> failures(JsonObject group) {
    JsonObject failures = group.getJsonObject("failures", new JsonObject());
    Map<String, Object> state =
        Json.copy(
            failures == null ? new JsonObject() : failures,
            "retriesWaiting",
            "parked",
            "shardsWaiting",
            "deadLetters");
    long sum = state.values().stream().mapToLong(count -> (Long) count).sum();
    long open =
        Json.objects(group.getJsonArray("members")).stream()
            .filter(member -> "open".equals(member.getString("breaker")))
            .count();
    state.put("breakersOpen", open);
    return sum + open == 0 ? null : state;
  }

  private static Long lagMillis(EndHistory history, Long committed, Long lag, long nowMillis) {
    if (committed == null || lag == null) {
      return null;
    }
    return lag == 0 ? (Long) 0L : history.ageMillis(committed, nowMillis);
  }

  private static Number seconds(Long millis) {
    return millis == null ? null : Json.rounded(millis / 1000.0);
  }

  /** A group's figures of its shards' figures. */
  private static final class Sums {
    Long lag = 0L;
    Long lagMillis = 0L;
    Double rate;

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
