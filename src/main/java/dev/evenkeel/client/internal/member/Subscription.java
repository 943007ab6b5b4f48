package dev.evenkeel.client.internal.member;

import dev.evenkeel.protocol.Names;
import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.RefusedException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashSet;
import java.util.List;

/**
 * What a consumer reads: names of topics, and patterns. In a pattern, {@code *} stands for any
 * number of characters: {@code orders.*} takes in {@code orders.eu} as soon as there is such a
 * topic.
 *
 * @param entries at least one
 */
record Subscription(List<String> entries) {
  private static final char ANY = '*';

  Subscription {
    entries = List.copyOf(entries);
  }

  /**
   * @throws RefusedException INVALID for what is neither a name nor a pattern
   */
  static void check(String entry) {
    if (entry != null && isPattern(entry)) {
      String name = entry.replace(String.valueOf(ANY), "");
      Names.check("topic", "x" + name);
    } else {
      Names.check("topic", entry);
    }
  }

  static boolean isPattern(String entry) {
    return entry.indexOf(ANY) >= 0;
  }

  boolean hasPatterns() {
    return entries.stream().anyMatch(Subscription::isPattern);
  }

  /** The topics that it names and, of those that exist, that its patterns match. */
  List<String> topics(Collection<String> existing) {
    LinkedHashSet<String> topics = new LinkedHashSet<>();
    for (String entry : entries) {
      if (isPattern(entry)) {
        existing.stream().filter(topic -> matches(entry, topic)).sorted().forEach(topics::add);
      } else {
        topics.add(entry);
      }
    }
    return List.copyOf(topics);
  }

  /** Whether a topic fits a pattern. Takes time in proportion to the product of their lengths. */
  static boolean matches(String pattern, String topic) {
    int at = 0;
    int from = 0;
    int star = -1;
    int mark = 0;
    while (at < topic.length()) {
      if (from < pattern.length() && pattern.charAt(from) == ANY) {
        star = from++;
        mark = at;
      } else if (from < pattern.length() && pattern.charAt(from) == topic.charAt(at)) {
        from++;
        at++;
      } else if (star >= 0) {
        from = star + 1;
        at = ++mark;
      } else {
        return false;
      }
    }
    while (from < pattern.length() && pattern.charAt(from) == ANY) {
      from++;
    }
    return from == pattern.length();
  }

  /**
   * @throws RefusedException INVALID if the entry is there already, or is neither a name nor a
   *     pattern
   */
  Subscription with(String entry, String consumer) {
    check(entry);
    if (entries.contains(entry)) {
      throw new RefusedException(Refusal.INVALID, "%s reads '%s' already", consumer, entry);
    }
    List<String> more = new ArrayList<>(entries);
    more.add(entry);
    return new Subscription(more);
  }

  /**
   * @param consumer for people
   * @throws RefusedException INVALID if the entry is not there, or is the only one
   */
  Subscription without(String entry, String consumer) {
    List<String> others = entries.stream().filter(each -> !each.equals(entry)).toList();
    if (others.size() == entries.size()) {
      throw new RefusedException(
          Refusal.INVALID,
          "%s does not read topic '%s': it reads %s",
          consumer,
          entry,
          String.join(", ", entries));
    }
    if (others.isEmpty()) {
      throw new RefusedException(
          Refusal.INVALID, "%s reads no other topic than '%s': close it instead", consumer, entry);
    }
    return new Subscription(others);
  }
}
