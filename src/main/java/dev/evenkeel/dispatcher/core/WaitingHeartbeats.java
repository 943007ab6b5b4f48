package dev.evenkeel.dispatcher.core;

import dev.evenkeel.bus.Heartbeat;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Predicate;

/**
 * Heartbeats that wait until the topics are read or the group is recorded. There is at most one of
 * each run of a member: a newer heartbeat replaces the older one.
 */
final class WaitingHeartbeats {
  /**
   * @param topicsFresh the topics have been read since it came
   */
  record Arrival(long request, Heartbeat beat, boolean topicsFresh) {
    Arrival fresh() {
      return new Arrival(request, beat, true);
    }
  }

  /**
   * @param notReadBy a read of topics that began before the heartbeat came, and so does not count;
   *     null: the next one does
   */
  private record WaitingHeartbeat(Arrival arrival, boolean forGroup, Long notReadBy) {}

  static final int MAX = 10_000;

  private final Map<String, WaitingHeartbeat> byInstance = new LinkedHashMap<>();
  private final List<Arrival> ready = new ArrayList<>();

  /**
   * @return the heartbeat that gives way to it, or null
   */
  Arrival forTopics(Arrival arrival, Long readInFlight) {
    return put(new WaitingHeartbeat(arrival, false, readInFlight));
  }

  Arrival forGroup(Arrival arrival) {
    return put(new WaitingHeartbeat(arrival, true, null));
  }

  private Arrival put(WaitingHeartbeat waiting) {
    String instance = waiting.arrival().beat().instance();
    if (byInstance.size() >= MAX && !byInstance.containsKey(instance)) {
      return waiting.arrival();
    }
    WaitingHeartbeat former = byInstance.put(instance, waiting);
    return former == null ? null : former.arrival();
  }

  /** Those that waited for this read of the topics. */
  List<Arrival> topicsRead(long id) {
    return take(each -> !each.forGroup() && (each.notReadBy() == null || each.notReadBy() != id));
  }

  /** Whether somebody waits for another read of the topics. */
  boolean needsTopics() {
    return byInstance.values().stream().anyMatch(waiting -> !waiting.forGroup());
  }

  /** Those that waited for the record of this group. */
  List<Arrival> ofGroup(String group) {
    return take(each -> each.forGroup() && each.arrival().beat().group().equals(group));
  }

  /** The group is recorded, or gone: heartbeats that waited for that are to be looked at again. */
  void recorded(String group) {
    ready.addAll(ofGroup(group));
  }

  /** Those to be looked at again. */
  List<Arrival> takeReady() {
    List<Arrival> taken = List.copyOf(ready);
    ready.clear();
    return taken;
  }

  List<Arrival> all() {
    return take(each -> true);
  }

  /** Thousands may wait: each is looked at once, and none is compared with others. */
  private List<Arrival> take(Predicate<WaitingHeartbeat> which) {
    List<Arrival> taken = new ArrayList<>();
    byInstance
        .values()
        .removeIf(
            waiting -> {
              boolean takes = which.test(waiting);
              if (takes) {
                taken.add(waiting.arrival());
              }
              return takes;
            });
    return taken;
  }
}
