package dev.evenkeel.dispatcher.core;

import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;

/**
 * Names of the groups that have something to do, so that an input about one of ten thousand groups
 * does not scan the others.
 */
final class DirtyGroups {
  private final Set<String> toPump = new LinkedHashSet<>();
  private final Set<String> toPush = new TreeSet<>();

  /** Until when joins are collected. */
  private final Map<String, Long> windows = new HashMap<>();

  /** There may be something to do for the group's shards. */
  void pump(String group) {
    toPump.add(group);
  }

  /** What members of the group own may have changed. */
  void push(String group) {
    toPush.add(group);
  }

  /** Joins of the group are collected until then. */
  void window(String group, long untilMillis) {
    windows.put(group, untilMillis);
  }

  void windowOver(String group) {
    windows.remove(group);
  }

  /** When the next window ends; {@link Long#MAX_VALUE} if there is none. */
  long dueMillis() {
    return windows.values().stream().min(Long::compare).orElse(Long.MAX_VALUE);
  }

  /** Groups with something to do, each once. */
  List<String> takePumps(long nowMillis) {
    windows.forEach(
        (group, until) -> {
          if (until <= nowMillis) {
            toPump.add(group);
          }
        });
    List<String> taken = List.copyOf(toPump);
    toPump.clear();
    return taken;
  }

  boolean anyToPush() {
    return !toPush.isEmpty();
  }

  List<String> takePushes() {
    List<String> taken = List.copyOf(toPush);
    toPush.clear();
    return taken;
  }
}
