package dev.evenkeel.dispatcher.core;

import dev.evenkeel.bus.Heartbeat;
import dev.evenkeel.bus.share.FairShare;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Predicate;
import java.util.function.ToDoubleFunction;

/**
 * Heartbeats that wait until the topics are read or the group is recorded. There is at most one of
 * each run of a member: a newer heartbeat replaces the older one. The room for them is divided
 * among users: one gets no more while it has as much as is left.
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

  /** Most characters of the topics and filters in them. */
  static final long CHARS_MAX = 64L << 20;

  /** What heartbeats take up of the room. */
  private static final class Room {
    int count;
    long chars;

    void add(int heartbeats, long more) {
      count += heartbeats;
      chars += more;
    }
  }

  private final ToDoubleFunction<String> weights;
  private final Room all = new Room();
  private final Map<String, Room> byUser = new HashMap<>();
  private final Map<String, WaitingHeartbeat> byInstance = new LinkedHashMap<>();
  private final List<Arrival> ready = new ArrayList<>();

  /**
   * @param weights the share of each user, see {@link FairShare}
   */
  WaitingHeartbeats(ToDoubleFunction<String> weights) {
    this.weights = weights;
  }

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
    Heartbeat beat = waiting.arrival().beat();
    WaitingHeartbeat former = byInstance.get(beat.instance());
    if (former != null) {
      count(former.arrival().beat(), -1);
    }
    if (!fits(beat)) {
      if (former != null) {
        count(former.arrival().beat(), 1);
      }
      return waiting.arrival();
    }
    count(beat, 1);
    byInstance.put(beat.instance(), waiting);
    return former == null ? null : former.arrival();
  }

  private boolean fits(Heartbeat beat) {
    String user = beat.user();
    long chars = chars(beat);
    if (user == null) {
      return all.count < MAX && all.chars + chars <= CHARS_MAX;
    }
    Room own = byUser.getOrDefault(user, new Room());
    double weight = weights.applyAsDouble(user);
    return FairShare.fits(own.count, all.count, 1, MAX, weight)
        && FairShare.fits(own.chars, all.chars, chars, CHARS_MAX, weight);
  }

  private void count(Heartbeat beat, int heartbeats) {
    long chars = heartbeats * chars(beat);
    all.add(heartbeats, chars);
    if (beat.user() != null) {
      Room own = byUser.computeIfAbsent(beat.user(), first -> new Room());
      own.add(heartbeats, chars);
      if (own.count == 0) {
        byUser.remove(beat.user());
      }
    }
  }

  private static long chars(Heartbeat beat) {
    List<String> filter = beat.wishes().filter();
    long chars = 0;
    for (String topic : beat.topics()) {
      chars += topic.length();
    }
    for (String condition : filter == null ? List.<String>of() : filter) {
      chars += condition.length();
    }
    return chars;
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
                count(waiting.arrival().beat(), -1);
                taken.add(waiting.arrival());
              }
              return takes;
            });
    return taken;
  }
}
