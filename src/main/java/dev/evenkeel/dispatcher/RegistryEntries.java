package dev.evenkeel.dispatcher;

import dev.evenkeel.bus.Heartbeat;
import dev.evenkeel.dispatcher.core.Member;
import dev.evenkeel.dispatcher.core.UnheardMember;
import dev.evenkeel.protocol.Limits;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.util.ArrayList;
import java.util.List;

/** Converts members to entries of the registry map, and back. */
final class RegistryEntries {
  private RegistryEntries() {}

  static String key(String group, String member) {
    return group + "/" + member;
  }

  static JsonObject of(Member member, long term) {
    Heartbeat beat = member.beat();
    Heartbeat.Wishes wishes = beat.wishes();
    JsonObject entry =
        new JsonObject()
            .put("group", beat.group())
            .put("member", beat.member())
            .put("instance", beat.instance())
            .put("bornMillis", beat.bornMillis())
            .put("mode", beat.mode())
            .put("topics", new JsonArray(new ArrayList<>(beat.topics())))
            .put("clusterMember", beat.clusterMember())
            .put("host", beat.host())
            .put("consumed", beat.consumed())
            .put("memberTimeoutMillis", beat.memberTimeoutMillis())
            .put("crashLockTimeMillis", wishes.crashLockTimeMillis())
            .put("graceMillis", wishes.graceMillis())
            .put("lastSeenMillis", member.heardMillis())
            .put("term", term);
    if (beat.user() != null) {
      entry.put("user", beat.user());
    }
    if (beat.policy().isLevel()) {
      // The next dispatcher hands out messages by these wishes before it has heard any member.
      entry
          .put("stallTimeoutMillis", wishes.stallTimeoutMillis())
          .put("order", wishes.order())
          .put(
              "retryDelaysMillis",
              wishes.retryDelaysMillis() == null
                  ? null
                  : new JsonArray(new ArrayList<>(wishes.retryDelaysMillis())))
          .put("crashesMax", wishes.crashesMax())
          .put(
              "filter",
              wishes.filter() == null ? null : new JsonArray(new ArrayList<>(wishes.filter())));
    }
    return entry;
  }

  /** The member of an entry, or null if the entry makes no sense. */
  static UnheardMember unheard(JsonObject entry, long nowMillis) {
    try {
      List<String> topics = new ArrayList<>();
      entry.getJsonArray("topics").forEach(topic -> topics.add((String) topic));
      String group = entry.getString("group");
      String member = entry.getString("member");
      String instance = entry.getString("instance");
      long timeoutMillis = entry.getLong("memberTimeoutMillis");
      if (group == null || member == null || instance == null) {
        return null;
      }
      return new UnheardMember(
          group,
          member,
          instance,
          entry.getLong("bornMillis"),
          topics,
          entry.getString("clusterMember"),
          entry.getString("host"),
          nowMillis + timeoutMillis,
          timeoutMillis,
          wishes(entry),
          entry.getString("user"));
    } catch (ClassCastException | NullPointerException e) {
      return null;
    }
  }

  private static Heartbeat.Wishes wishes(JsonObject entry) {
    JsonArray delays = entry.getJsonArray("retryDelaysMillis");
    JsonArray filter = entry.getJsonArray("filter");
    return new Heartbeat.Wishes(
        null,
        null,
        entry.getLong("crashLockTimeMillis", 0L),
        entry.getLong("stallTimeoutMillis"),
        entry.getString("order"),
        delays == null ? null : delays.stream().map(delay -> ((Number) delay).longValue()).toList(),
        null,
        entry.getLong("graceMillis", 0L),
        filter == null ? null : filter.stream().map(String.class::cast).toList(),
        entry.getInteger("crashesMax", Limits.CRASHES_MAX_DEFAULT));
  }
}
