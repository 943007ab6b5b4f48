package dev.evenkeel.bus;

import dev.evenkeel.api.Permission;
import java.util.ArrayList;
import java.util.List;
import java.util.NavigableMap;
import java.util.TreeMap;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * The groups and topics that a question is about, so that the answer to somebody who sees few of
 * them costs little in a cluster of many. It is no permission: whoever asks filters the answer.
 *
 * @param groups names, and beginnings of names with a {@code *} at the end; null: all
 * @param topics likewise
 */
public record GroupScope(@Nullable List<String> groups, @Nullable List<String> topics) {
  /** All groups and topics. */
  public static final GroupScope ALL = new GroupScope(null, null);

  /** None. */
  public static final GroupScope NONE = new GroupScope(List.of(), List.of());

  private static final String ANY = "*";

  public boolean hasGroup(String name) {
    return has(groups, name);
  }

  /** The values whose names {@link #hasGroup}, by name. It takes no longer if there are others. */
  public <V> List<V> named(NavigableMap<String, V> byName) {
    if (groups == null) {
      return new ArrayList<>(byName.values());
    }
    NavigableMap<String, V> named = new TreeMap<>();
    for (String pattern : groups) {
      if (pattern.endsWith(ANY)) {
        String begin = pattern.substring(0, pattern.length() - ANY.length());
        named.putAll(byName.subMap(begin, true, begin + Character.MAX_VALUE, true));
      } else if (byName.containsKey(pattern)) {
        named.put(pattern, byName.get(pattern));
      }
    }
    return new ArrayList<>(named.values());
  }

  public boolean hasTopic(String name) {
    return has(topics, name);
  }

  private static boolean has(@Nullable List<String> patterns, String name) {
    return patterns == null
        || patterns.stream().anyMatch(pattern -> Permission.covers(pattern, name));
  }

  /** What this one has, and what the other one has. */
  public GroupScope plus(GroupScope other) {
    return new GroupScope(plus(groups, other.groups), plus(topics, other.topics));
  }

  private static @Nullable List<String> plus(
      @Nullable List<String> some, @Nullable List<String> more) {
    if (some == null || more == null) {
      return null;
    }
    TreeSet<String> both = new TreeSet<>(some);
    both.addAll(more);
    return new ArrayList<>(both);
  }

  /** Whether it has all that the other one has. It may say no though it has. */
  public boolean covers(GroupScope other) {
    return equals(plus(other));
  }
}
