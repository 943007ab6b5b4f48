package dev.evenkeel.cli;

import dev.evenkeel.protocol.Skipped;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Collectors;

/** Formats a group from the API as lines and tables for people; a hyphen means unknown. */
final class GroupText {
  private static final String UNKNOWN = "-";
  private static final int HOT_KEYS_MAX = 3;

  private GroupText() {}

  static String of(JsonObject group) {
    return line("group", group.getString("group")).strip()
        + line("mode", group.getString("mode"))
        + line("assignor", word(group.getString("assignor")))
        + line("status", status(group))
        + leader(group)
        + level(group)
        + dedup(group)
        + rates(group)
        + failures(group)
        + breakers(group)
        + "\n\n"
        + members(group).text()
        + "\n"
        + Table.of(
                "TOPIC topic, SHARD shard, OWNER owner, NEXT nextOwner, STATE state, "
                    + "EPOCH epoch, COMMITTED committed, POSITION position, END end, LAG lag",
                group.getJsonArray("shards"),
                shard -> shard.put("state", state(shard)))
            .text();
  }

  /**
   * Whether it is paused; and while the number of shards changes, what it has to do with others.
   */
  private static String state(JsonObject shard) {
    String state = shard.getString("state");
    if (shard.getBoolean("paused", false)) {
      state += ", paused";
    }
    JsonObject crashes = shard.getJsonObject("crashes");
    if (crashes != null) {
      state +=
          ", careful: %d owners died, perhaps of offset %d"
              .formatted(crashes.getInteger("count"), crashes.getLong("offset"));
    }
    JsonObject skipped = shard.getJsonObject("skipped");
    if (skipped != null) {
      Skipped dropped =
          new Skipped(
              skipped.getLong("first"), skipped.getLong("last"), skipped.getLong("total"), 0);
      state += ", skipped " + dropped.text();
    }
    JsonArray waitsFor = shard.getJsonArray("waitsFor");
    if (waitsFor != null) {
      String first = waitsFor.stream().map(String::valueOf).collect(Collectors.joining(","));
      return state + ", after " + first;
    }
    boolean sealed = shard.getBoolean("sealed", false);
    return !sealed ? state : state + (shard.getBoolean("finished") ? ", finished" : ", sealed");
  }

  private static String line(String name, String value) {
    return String.format("\n%-10s%s", name, value);
  }

  private static String word(Object figure) {
    return figure == null ? UNKNOWN : figure.toString();
  }

  private static String percent(Double share) {
    return share == null ? UNKNOWN : String.format(Locale.ROOT, "%.0f %%", share * 100);
  }

  private static JsonObject part(JsonObject group, String name) {
    return group.getJsonObject(name, new JsonObject());
  }

  /** The objects of a list; none if there is no list. */
  private static List<JsonObject> objects(JsonArray list) {
    return list == null ? List.of() : list.stream().map(JsonObject.class::cast).toList();
  }

  /**
   * The status in the words of the web page; null if it is unknown. A status that this program does
   * not know keeps its name.
   */
  static String status(JsonObject group) {
    String status = shardsStatus(group);
    long leftOut = group.getLong("topicsLeftOut", 0L);
    return status == null || leftOut == 0
        ? status
        : status + ", " + leftOut + (leftOut == 1 ? " topic left out" : " topics left out");
  }

  private static String shardsStatus(JsonObject group) {
    String status = assignmentStatus(group);
    if (group.getBoolean("paused", false)) {
      return status == null || status.equals("OK") ? "paused" : "paused, " + status;
    }
    long shards = shardsPaused(group);
    return status == null || shards == 0
        ? status
        : status + ", " + shards + (shards == 1 ? " shard paused" : " shards paused");
  }

  /** How many shards are paused; 0 if a node of a former version answers. */
  private static long shardsPaused(JsonObject group) {
    return group.getValue("shards") instanceof JsonArray shards
        ? objects(shards).stream().filter(shard -> shard.getBoolean("paused", false)).count()
        : group.getLong("shardsPaused", 0L);
  }

  private static String assignmentStatus(JsonObject group) {
    String status = group.getString("status");
    Integer members = memberCount(group);
    if (status == null) {
      return null;
    }
    if (members != null && members == 0) {
      return "no members";
    }
    return switch (status) {
      case "UNASSIGNED_SHARD_WITH_CONSUMER_IDLE_EXISTS" -> "shards free, members idle";
      case "UNASSIGNED_SHARD_WITHOUT_CONSUMER_IDLE_EXISTS" -> "shards free";
      case "HEAVY_LOAD_BALANCE_NEEDED" -> "rebalancing";
      case "HEAVY_LOAD_WITH_CONSUMER_IDLE_BALANCE_NEEDED" -> "rebalancing, members idle";
      default -> status;
    };
  }

  /** The number of members, which a group lists and the list of groups counts. */
  static Integer memberCount(JsonObject group) {
    Object members = group.getValue("members");
    if (members instanceof JsonArray array) {
      return array.size();
    }
    return members instanceof Number number ? number.intValue() : null;
  }

  /** One line in mode singleton, else none. */
  private static String leader(JsonObject group) {
    if (!"singleton".equals(group.getString("mode"))) {
      return "";
    }
    JsonObject singleton = part(group, "singleton");
    String leader = singleton.getString("leader");
    return line(
        "leader", leader == null ? UNKNOWN : leader + " at term " + singleton.getLong("term"));
  }

  private static boolean isLevel(JsonObject group) {
    return part(group, "level").getInteger("range") != null;
  }

  /** One line for each figure in mode level, else none. */
  private static String level(JsonObject group) {
    if (!isLevel(group)) {
      return "";
    }
    JsonObject level = part(group, "level");
    Integer range = level.getInteger("range");
    Long gap = level.getLong("gap");
    Long times = level.getLong("setAside");
    String holder = level.getString("holder");
    Long held = level.getLong("heldMs");
    if (gap == null) {
      holder = UNKNOWN;
    } else if (holder == null) {
      holder = "nobody";
    } else if (held != null) {
      holder = String.format(Locale.ROOT, "%s holds the round for %.1f s", holder, held / 1_000.0);
    }
    return line("range", range.toString())
        + line("strategy", word(level.getString("strategy")))
        + line("gap", gap == null ? UNKNOWN : gap + " of " + range)
        + line("round", word(level.getLong("round")))
        + line("holder", holder)
        + line("set aside", times == null ? UNKNOWN : times == 1 ? "once" : times + " times");
  }

  /** What deduplication saves, or would save: some lines; none if nothing is known. */
  static String dedup(JsonObject group) {
    JsonObject dedup = part(group, "dedup");
    String mode = dedup.getString("mode");
    boolean on = mode != null && !mode.equals("off");
    JsonObject repetition = part(dedup, "repetition");
    String level = repetition.getString("level");
    String lines = "";
    if (on) {
      lines += line("dedup", mode + ": " + percent(dedup.getDouble("savedShare")));
      lines += " of the work saved";
      if (dedup.getLong("accepted") != null) {
        lines += dedupCounts(dedup);
      }
    }
    if (level != null) {
      Integer distance = repetition.getInteger("smallestDistance");
      lines += line("repeats", level);
      lines += distance == null ? "" : ", every " + distance + " at the closest";
      if (!on && !level.equals("none")) {
        lines += "; --dedup would save " + percent(repetition.getDouble("declinedShare"));
      }
    }
    return lines;
  }

  private static String dedupCounts(JsonObject dedup) {
    String counts =
        String.format(
            Locale.ROOT,
            ", %d declined, %d accepted, %d waited%n          now %d at work, %d waiting; %d"
                + " evicted, %d lost, %d unguarded",
            dedup.getLong("declined"),
            dedup.getLong("accepted"),
            dedup.getLong("blocked"),
            dedup.getLong("processing"),
            dedup.getLong("waiting"),
            dedup.getLong("evicted"),
            dedup.getLong("lost"),
            dedup.getLong("unguarded"));
    List<String> keys =
        objects(dedup.getJsonArray("hot")).stream()
            .limit(HOT_KEYS_MAX)
            .map(each -> each.getString("key") + " (" + each.getLong("declined") + ")")
            .toList();
    return keys.isEmpty() ? counts : counts + line("hottest", String.join(", ", keys));
  }

  /** What the rate limits of the members do: one line; none without limits. */
  static String rates(JsonObject group) {
    JsonObject rates = part(group, "rates");
    if (rates.getLong("dropped") == null) {
      return "";
    }
    long shards = rates.getLong("shardsWaiting");
    return String.format(
        Locale.ROOT,
        "%nrates     %d waiting now%s; %d had to wait, %d dropped",
        rates.getLong("waiting"),
        shards == 0 ? "" : " (the most in " + shards + (shards == 1 ? " shard)" : " shards)"),
        rates.getLong("delayed"),
        rates.getLong("dropped"));
  }

  /** The failures: one line; none if nothing has failed. */
  static String failures(JsonObject group) {
    if (!group.containsKey("failures")) {
      return "";
    }
    JsonObject failures = group.getJsonObject("failures");
    if (failures == null) {
      return line("failures", UNKNOWN);
    }
    long waiting = failures.getLong("retriesWaiting");
    long parked = failures.getLong("parked");
    long shards = failures.getLong("shardsWaiting");
    long dead = failures.getLong("deadLetters");
    return waiting + parked + shards + dead == 0
        ? ""
        : String.format(
            "%nfailures  %d to be tried again, %d parked behind them, %d shards wait; %d dead"
                + " letters",
            waiting, parked, shards, dead);
  }

  /** The members whose circuit breaker is open: one line; none if there is none. */
  static String breakers(JsonObject group) {
    List<String> open =
        objects(group.getJsonArray("members")).stream()
            .filter(member -> "open".equals(member.getString("breaker")))
            .map(member -> member.getString("member"))
            .toList();
    return open.isEmpty()
        ? ""
        : line(
            "breaker",
            "open: most messages fail at %s, where one at a time is tried"
                .formatted(String.join(", ", open)));
  }

  /** The table of members; its columns depend on the mode. */
  private static Table members(JsonObject group) {
    Map<String, JsonObject> bars = new HashMap<>();
    objects(part(group, "level").getJsonArray("bars"))
        .forEach(bar -> bars.put(bar.getString("member"), bar));
    List<JsonObject> members = new ArrayList<>();
    for (JsonObject member : objects(group.getJsonArray("members"))) {
      Long silent = member.getLong("lastHeartbeatMs");
      JsonObject bar = bars.getOrDefault(member.getString("member"), new JsonObject());
      members.add(
          member
              .copy()
              .put("shards", member.getJsonArray("shards", new JsonArray()).size())
              .put("finished", bar.getLong("finished"))
              .put("inHand", bar.getLong("inHand"))
              .put("heartbeat", silent == null ? null : silent + " ms ago")
              .put("stuck", stuck(member)));
    }
    String columns =
        isLevel(group)
            // They own no shards; the figures show how level they are.
            ? "FINISHED finished, IN HAND inHand, CONSUMED consumed, HEARTBEAT heartbeat"
            : "broadcast".equals(group.getString("mode"))
                // Each member reads all shards, and keeps its own offsets.
                ? "CONSUMED consumed, LAG lag, PASSED OVER passedOver, HEARTBEAT heartbeat"
                : "SHARDS shards, CONSUMED consumed, HEARTBEAT heartbeat, STUCK stuck";
    return Table.of("MEMBER member, HOST host, NODE node, " + columns, new JsonArray(members));
  }

  /** The shards on which a member finishes nothing, and for how long; null if unknown. */
  private static String stuck(JsonObject member) {
    JsonArray shards = member.getJsonArray("stuck");
    Long millis = member.getLong("stuckMs");
    if (shards == null || millis == null) {
      return null;
    }
    return shards.isEmpty()
        ? "no"
        : "%s for %s s"
            .formatted(
                String.join(" ", shards.stream().map(String::valueOf).toList()), millis / 1000);
  }
}
