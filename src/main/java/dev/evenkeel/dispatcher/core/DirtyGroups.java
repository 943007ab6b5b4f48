package dev.evenkeel.dispatcher.core;

import java.util.Comparator;
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
  private record Window(long untilMillis, String group) {}

  private final Map<String, Window> windows = new HashMap<>();

  /** The same; the first ends next. */
  private final TreeSet<Window> ends =
      new TreeSet<>(Comparator.comparingLong(Window::untilMillis).thenComparing(Window::group));

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
    windowOver(group);
    Window window = new Window(untilMillis, group);
    windows.put(group, window);
    ends.add(window);
  }

  void windowOver(String group) {
    Window former = windows.remove(group);
    if (former != null) {
      ends.remove(former);
    }
  }

  /** When the next window ends; {@link Long#MAX_VALUE} if there is none. */
  long dueMillis() {
    return ends.isEmpty() ? Long.MAX_VALUE : ends.first().untilMillis();
  }

  /** Groups with something to do, each once. */
  List<String> takePumps(long nowMillis) {
    for (Window window : ends) {
      if (window.untilMillis() > nowMillis) {
        break;
      }
      toPump.add(window.group());
    }
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
