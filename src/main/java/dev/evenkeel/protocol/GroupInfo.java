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
    Map<String, Long> subscriptions,
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
    subscriptions = SharedMap.of(subscriptions);
    patterns = Collections.unmodifiableSortedMap(new TreeMap<>(patterns));
  }

  private Map<String, Long> with(Collection<String> topics, long millis) {
    SharedMap<String, Long> after = SharedMap.of(subscriptions);
    for (String topic : topics) {
      after = after.with(topic, millis);
    }
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

  /** Whether a live member has subscribed to the topic last at that active time. */
  public boolean readsAt(String topic, long millis) {
    Long seen = subscriptions.get(topic);
    return seen != null && seen == millis;
  }

  /** Whether it reads a topic of that name if it is made now. */
  public boolean takesIn(String topic) {
    return patterns.keySet().stream().anyMatch(pattern -> pattern.takesIn(topic));
  }

  /** The same without a topic. */
  public GroupInfo without(String topic) {
    return with(SharedMap.of(subscriptions).without(topic), seenMillis, patterns);
  }

  /** The same without a pattern. */
  public GroupInfo without(GroupPattern pattern) {
    SortedMap<GroupPattern, Long> left = new TreeMap<>(patterns);
    left.remove(pattern);
    return with(subscriptions, seenMillis, left);
  }

  /** The same, which reads these topics, too. */
  public GroupInfo taking(Collection<String> topics, long activeMillis) {
    return with(with(topics, activeMillis), seenMillis, patterns);
  }

  /** The same, seen at that active time with live members that subscribe to {@code topics}. */
  public GroupInfo seenAt(long millis, Collection<String> topics) {
    return with(with(topics, millis), millis, patterns);
  }

  /** The same, with live members that subscribe to these patterns at that active time. */
  public GroupInfo seenWith(Collection<GroupPattern> seen, long millis) {
    SortedMap<GroupPattern, Long> all = new TreeMap<>(patterns);
    seen.forEach(pattern -> all.put(pattern, millis));
    while (all.size() > PATTERNS_MAX) {
      all.remove(Collections.min(all.entrySet(), Map.Entry.comparingByValue()).getKey());
    }
    return with(subscriptions, seenMillis, all);
  }

  private GroupInfo with(
      Map<String, Long> newSubscriptions, long seen, SortedMap<GroupPattern, Long> newPatterns) {
    return new GroupInfo(
        name, policy, newSubscriptions, start, createdMillis, seen, assignor, newPatterns);
  }
}
