package dev.evenkeel.protocol;

import java.util.Collection;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * A group as the meta log holds it. It outlives its members: later members continue where earlier
 * ones stopped.
 *
 * <p>Active time says when the group was last seen, see {@link MetaCommand.AddActiveTime}.
 *
 * @param policy what its members agree on
 * @param subscriptions by name the topics that members have subscribed to, sorted, with when a live
 *     member last did, to the hour; milliseconds of active time
 * @param start where it begins in a shard without a lease
 * @param createdMillis milliseconds since 1970
 * @param seenMillis when it last had a live member, to the hour; milliseconds of active time
 * @param assignor name of the assignor, which decides who owns which shard
 * @param patterns to which members have subscribed, with when a live member last did; at most
 *     {@link #PATTERNS_MAX}. The log adds each topic that is made and that one of them takes in
 */
public record GroupInfo(
    String name,
    GroupPolicy policy,
    SortedMap<String, Long> subscriptions,
    StartAt start,
    long createdMillis,
    long seenMillis,
    String assignor,
    SortedMap<GroupPattern, Long> patterns) {

  /** What a group uses if no member ever named another. */
  public static final String ASSIGNOR_DEFAULT = "sticky";

  /** Most patterns of a group; of more, those go that were not seen for longest. */
  public static final int PATTERNS_MAX = 1_000;

  public GroupInfo {
    subscriptions = Collections.unmodifiableSortedMap(new TreeMap<>(subscriptions));
    patterns = Collections.unmodifiableSortedMap(new TreeMap<>(patterns));
  }

  /** A group that has subscribed to no pattern. */
  public GroupInfo(
      String name,
      GroupPolicy policy,
      SortedMap<String, Long> subscriptions,
      StartAt start,
      long createdMillis,
      long seenMillis,
      String assignor) {
    this(
        name,
        policy,
        subscriptions,
        start,
        createdMillis,
        seenMillis,
        assignor,
        Collections.emptySortedMap());
  }

  private static <K> SortedMap<K, Long> with(
      SortedMap<K, Long> before, Collection<K> more, long millis) {
    SortedMap<K, Long> after = new TreeMap<>(before);
    more.forEach(each -> after.put(each, millis));
    return after;
  }

  /** How the group consumes. */
  public String mode() {
    return policy.mode();
  }

  /** Names of the topics that members have subscribed to, sorted. */
  public List<String> topics() {
    return List.copyOf(subscriptions.keySet());
  }

  /** Whether members have subscribed to the topic, and it was not forgotten since. */
  public boolean reads(String topic) {
    return subscriptions.containsKey(topic);
  }

  /** Whether it reads a topic of that name if it is made now. */
  public boolean takesIn(String topic) {
    return patterns.keySet().stream().anyMatch(pattern -> pattern.takesIn(topic));
  }

  /** Whether that is one of its patterns. */
  public boolean hasPattern(String entry) {
    return patterns.keySet().stream().anyMatch(pattern -> pattern.entry().equals(entry));
  }

  /** The same without a topic, or without a pattern. */
  public GroupInfo without(String topic) {
    SortedMap<String, Long> others = new TreeMap<>(subscriptions);
    others.remove(topic);
    SortedMap<GroupPattern, Long> left = new TreeMap<>(patterns);
    left.keySet().removeIf(pattern -> pattern.entry().equals(topic));
    return with(others, seenMillis, left);
  }

  /** The same, which reads these topics, too. */
  public GroupInfo taking(Collection<String> topics, long activeMillis) {
    return with(with(subscriptions, topics, activeMillis), seenMillis, patterns);
  }

  /** The same, seen at that active time with live members that subscribe to {@code topics}. */
  public GroupInfo seenAt(long millis, Collection<String> topics) {
    return with(with(subscriptions, topics, millis), millis, patterns);
  }

  /** The same, with live members that subscribe to these patterns at that active time. */
  public GroupInfo seenWith(Collection<GroupPattern> seen, long millis) {
    SortedMap<GroupPattern, Long> all = new TreeMap<>(with(patterns, seen, millis));
    while (all.size() > PATTERNS_MAX) {
      all.remove(Collections.min(all.entrySet(), Map.Entry.comparingByValue()).getKey());
    }
    return with(subscriptions, seenMillis, all);
  }

  private GroupInfo with(
      SortedMap<String, Long> newSubscriptions,
      long seen,
      SortedMap<GroupPattern, Long> newPatterns) {
    return new GroupInfo(
        name, policy, newSubscriptions, start, createdMillis, seen, assignor, newPatterns);
  }
}
