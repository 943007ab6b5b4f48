package dev.evenkeel.gateway.live;

import dev.evenkeel.api.GroupView.Shard.State;
import dev.evenkeel.bus.SessionIds;
import dev.evenkeel.bus.maps.OwnershipEntry;
import dev.evenkeel.bus.maps.RegistryEntry;
import io.vertx.core.json.JsonObject;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * Puts what the shared maps say into the groups of the live state, while no dispatcher answers:
 * owners that are newer than the known ones, and members and groups that are not known at all. The
 * maps may have lost entries, so what they do not name stays.
 */
final class MapOwners {
  private static final String MEMBERS = "members";
  private static final String SHARDS = "shards";

  private MapOwners() {}

  /**
   * The groups with what the maps say.
   *
   * @param known the groups as the dispatcher gave them last; not changed
   * @param ownership the entries of the ownership map
   * @param registry the entries of the registry map
   */
  static Map<String, Object> over(
      Map<String, Object> known,
      Map<String, JsonObject> ownership,
      Map<String, JsonObject> registry) {
    Map<String, Object> groups = new LinkedHashMap<>(known);
    Map<String, Map<String, Object>> changed = new LinkedHashMap<>();
    registry.forEach(
        (key, json) -> {
          RegistryEntry entry = RegistryEntry.of(key, json);
          if (entry != null) {
            member(changed.computeIfAbsent(entry.group(), name -> copy(known.get(name))), entry);
          }
        });
    ownership.forEach(
        (key, json) -> {
          OwnershipEntry entry = OwnershipEntry.of(key, json);
          if (entry != null && entry.state() != null) {
            shard(changed.computeIfAbsent(entry.group(), name -> copy(known.get(name))), entry);
          }
        });
    changed.forEach(
        (name, group) -> {
          count(group);
          groups.put(name, group);
        });
    return groups;
  }

  /** A copy whose members and shards may be changed. */
  private static Map<String, Object> copy(Object known) {
    Map<String, Object> group = object(known);
    group.put(MEMBERS, object(group.get(MEMBERS)));
    group.put(SHARDS, object(group.get(SHARDS)));
    return group;
  }

  @SuppressWarnings("unchecked")
  private static Map<String, Object> object(Object known) {
    return known == null ? new LinkedHashMap<>() : new LinkedHashMap<>((Map<String, Object>) known);
  }

  @SuppressWarnings("unchecked")
  private static Map<String, Object> part(Map<String, Object> group, String name) {
    return (Map<String, Object>) group.get(name);
  }

  private static void member(Map<String, Object> group, RegistryEntry entry) {
    if (!group.containsKey("mode")) {
      Json.put(group, "mode", entry.mode());
    }
    Map<String, Object> state = new LinkedHashMap<>();
    Json.put(state, "node", SessionIds.shown(entry.clusterMember()));
    Json.put(state, "host", entry.host());
    part(group, MEMBERS).putIfAbsent(entry.member(), state);
  }

  private static void shard(Map<String, Object> group, OwnershipEntry entry) {
    String name = entry.topic() + "/" + entry.shard();
    Map<String, Object> state = object(part(group, SHARDS).get(name));
    if (!isNewer(entry, state)) {
      return;
    }
    state.put("topic", entry.topic());
    state.put("shard", (long) entry.shard());
    set(state, "owner", entry.owner());
    set(state, "nextOwner", entry.nextOwner());
    set(state, "drainDeadline", entry.drainDeadline());
    state.put("epoch", entry.epoch());
    state.put("state", entry.state().name());
    part(group, SHARDS).put(name, state);
  }

  /** Within an epoch a shard is owned, then draining, then free. */
  private static boolean isNewer(OwnershipEntry entry, Map<String, Object> known) {
    if (!(known.get("epoch") instanceof Long epoch)
        || !(known.get("state") instanceof String state)) {
      return true;
    }
    return entry.epoch() > epoch
        || entry.epoch() == epoch && entry.state().compareTo(State.valueOf(state)) > 0;
  }

  private static void set(Map<String, Object> state, String field, Object value) {
    if (value == null) {
      state.remove(field);
    } else {
      state.put(field, value);
    }
  }

  /** How many shards each member owns. */
  private static void count(Map<String, Object> group) {
    Map<Object, Long> owned = new LinkedHashMap<>();
    part(group, SHARDS)
        .values()
        .forEach(shard -> owned.merge(String.valueOf(object(shard).get("owner")), 1L, Long::sum));
    part(group, MEMBERS)
        .replaceAll(
            (name, member) -> {
              Map<String, Object> state = object(member);
              state.put(SHARDS, owned.getOrDefault(name, 0L));
              return state;
            });
  }
}
