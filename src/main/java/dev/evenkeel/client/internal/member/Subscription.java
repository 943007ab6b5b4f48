package dev.evenkeel.client.internal.member;

import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.RefusedException;
import dev.evenkeel.protocol.TopicPattern;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashSet;
import java.util.List;

/**
 * What a consumer reads: names of topics, and patterns, see {@link TopicPattern}.
 *
 * @param entries at least one
 */
record Subscription(List<String> entries) {
  Subscription {
    entries = List.copyOf(entries);
  }

  boolean hasPatterns() {
    return entries.stream().anyMatch(TopicPattern::is);
  }

  /** The topics that it names and, of those that exist, that its patterns match. */
  List<String> topics(Collection<String> existing) {
    LinkedHashSet<String> topics = new LinkedHashSet<>();
    for (String entry : entries) {
      if (TopicPattern.is(entry)) {
        existing.stream()
            .filter(topic -> TopicPattern.matches(entry, topic))
            .sorted()
            .forEach(topics::add);
      } else {
        topics.add(entry);
      }
    }
    return List.copyOf(topics);
  }

  /** Whether it names a topic, or a pattern of it matches the topic. */
  boolean reads(String topic) {
    return entries.stream().anyMatch(entry -> TopicPattern.matches(entry, topic));
  }

  /** The patterns that match a topic; empty if it is named. */
  List<String> patterns(String topic) {
    return entries.contains(topic)
        ? List.of()
        : entries.stream().filter(entry -> TopicPattern.matches(entry, topic)).toList();
  }

  /**
   * @throws RefusedException INVALID if the entry is there already, or is neither a name nor a
   *     pattern
   */
  Subscription with(String entry, String consumer) {
    TopicPattern.check(entry);
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
