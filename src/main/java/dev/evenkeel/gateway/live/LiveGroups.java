package dev.evenkeel.gateway.live;

import static java.util.stream.Collectors.joining;

import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
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
      if (shard.getBoolean("finished", false)) {
        // The group has nothing to do with it any more.
        continue;
      }
      String key = shard.getString("topic") + "/" + shard.getInteger("shard");
      shards.put(key, shard(name + " " + key, key, shard, sums, nowMillis));
    }
    Map<String, Object> state = Json.copy(group, "mode", "assignor", "status");
    if (group.containsKey("topicsLeftOut")) {
      state.put("topicsLeftOut", group.getLong("topicsLeftOut"));
    }
    if (group.getBoolean("paused", false)) {
      state.put("paused", true);
    }
    if (sums.paused > 0) {
      state.put("shardsPaused", sums.paused);
    }
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
    // Two spaces, so that it differs from the key of any shard.
    Meter meter =
        meters.of(group + "  " + member.getString("member"), () -> new Meter(WINDOW_MILLIS));
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
    Long position = shard.getLong("position");
    Long reached = position == null ? shard.getLong("committed") : position;
    Long end = shard.getLong("end");
    Long lag = shard.getLong("lag");
    EndHistory history = ends.of(endKey, EndHistory::new);
    if (end != null) {
      history.add(nowMillis, end);
    }
    Meter meter = meters.of(meterKey, () -> new Meter(WINDOW_MILLIS));
    if (reached != null) {
      meter.add(nowMillis, reached);
    }
    Long lagMillis = lagMillis(history, reached, lag, nowMillis);
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
            "position",
            "committed",
            "end",
            "lag");
    Json.put(state, "lagSeconds", seconds(lagMillis));
    Json.put(state, "rate", Json.rounded(rate));
    if (shard.getBoolean("sealed", false)) {
      state.put("sealed", true);
    }
    if (shard.getBoolean("paused", false)) {
      state.put("paused", true);
      sums.paused++;
    }
    JsonObject crashes = shard.getJsonObject("crashes");
    if (crashes != null) {
      state.put("crashes", crashes.getInteger("count"));
      state.put("suspect", crashes.getLong("offset"));
    }
    JsonObject skipped = shard.getJsonObject("skipped");
    if (skipped != null) {
      state.put("skipped", skipped.getLong("total"));
      state.put("skippedFrom", skipped.getLong("first"));
      state.put("skippedTo", skipped.getLong("last"));
    }
    JsonArray waitsFor = shard.getJsonArray("waitsFor");
    if (waitsFor != null) {
      state.put("waitsFor", waitsFor.stream().map(String::valueOf).collect(joining(", ")));
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
   * The part of a group's state for deduplication: what it does, or would do.
   *
   * @param dedup from the answer of the dispatcher, or null
   * @return null if it is off and no repeated messages are known
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
   * The part of a group's state for failed messages.
   *
   * @param group from the answer of the dispatcher
   * @return null if there are none; without the counts if they are unknown
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
