package dev.evenkeel.protocol;

import java.util.Collection;
import java.util.Collections;
import java.util.List;
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
 */
public record GroupInfo(
    String name,
    GroupPolicy policy,
    SortedMap<String, Long> subscriptions,
    StartAt start,
    long createdMillis,
    long seenMillis,
    String assignor) {

  /** What a group uses if no member ever named another. */
  public static final String ASSIGNOR_DEFAULT = "sticky";

  public GroupInfo {
    subscriptions = Collections.unmodifiableSortedMap(new TreeMap<>(subscriptions));
  }

  private static SortedMap<String, Long> with(
      SortedMap<String, Long> before, Collection<String> topics, long millis) {
    SortedMap<String, Long> after = new TreeMap<>(before);
    topics.forEach(topic -> after.put(topic, millis));
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

  /** The same without a topic. */
  public GroupInfo without(String topic) {
    SortedMap<String, Long> others = new TreeMap<>(subscriptions);
    others.remove(topic);
    return with(others, seenMillis);
  }

  /** The same, seen at that active time with live members that subscribe to {@code topics}. */
  public GroupInfo seenAt(long millis, Collection<String> topics) {
    return with(with(subscriptions, topics, millis), millis);
  }

  private GroupInfo with(SortedMap<String, Long> newSubscriptions, long seen) {
    return new GroupInfo(name, policy, newSubscriptions, start, createdMillis, seen, assignor);
  }
}
