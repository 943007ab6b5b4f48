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
  record Held(long request, Heartbeat beat, boolean topicsFresh) {
    Held fresh() {
      return new Held(request, beat, true);
    }
  }

  /**
   * @param notReadBy a read of topics that began before the heartbeat came, and so does not count;
   *     null: the next one does
   */
  private record Waiting(Held held, boolean forGroup, Long notReadBy) {}

  static final int MAX = 10_000;

  private final Map<String, Waiting> byInstance = new LinkedHashMap<>();
  private final List<Held> ready = new ArrayList<>();

  /**
   * @return the heartbeat that gives way to it, or null
   */
  Held forTopics(Held arrival, Long readInFlight) {
    return put(new Waiting(arrival, false, readInFlight));
  }

  Held forGroup(Held arrival) {
    return put(new Waiting(arrival, true, null));
  }

  private Held put(Waiting waiting) {
    String instance = waiting.held().beat().instance();
    if (byInstance.size() >= MAX && !byInstance.containsKey(instance)) {
      return waiting.held();
    }
    Waiting former = byInstance.put(instance, waiting);
    return former == null ? null : former.held();
  }

  /** Those that waited for this read of the topics. */
  List<Held> topicsRead(long id) {
    return take(each -> !each.forGroup() && (each.notReadBy() == null || each.notReadBy() != id));
  }

  /** Whether somebody waits for another read of the topics. */
  boolean needsTopics() {
    return byInstance.values().stream().anyMatch(waiting -> !waiting.forGroup());
  }

  /** Those that waited for the record of this group. */
  List<Held> ofGroup(String group) {
    return take(each -> each.forGroup() && each.held().beat().group().equals(group));
  }

  /** The group is recorded, or gone: heartbeats that waited for that are to be looked at again. */
  void recorded(String group) {
    ready.addAll(ofGroup(group));
  }

  /** Those to be looked at again. */
  List<Held> takeReady() {
    List<Held> taken = List.copyOf(ready);
    ready.clear();
    return taken;
  }

  List<Held> all() {
    return take(each -> true);
  }

  private List<Held> take(Predicate<Waiting> which) {
    List<Waiting> taken = byInstance.values().stream().filter(which).toList();
    byInstance.values().removeAll(taken);
    return taken.stream().map(Waiting::held).toList();
  }
}
