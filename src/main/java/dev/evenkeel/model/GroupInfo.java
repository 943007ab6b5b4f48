package dev.evenkeel.model;

import java.util.List;

/**
 * A group as the meta log holds it. It outlives its members, so that their successors go on where
 * they stopped.
 *
 * @param policy what its members agree on
 * @param topics names of the topics that members have subscribed to, sorted
 * @param start where it begins in a shard without a lease
 * @param lastSeenMillis when it last had a live member, to the hour; milliseconds since 1970
 * @param assignor name of what decides who shall own which shard
 */
public record GroupInfo(
    String name,
    GroupPolicy policy,
    List<String> topics,
    StartAt start,
    long createdMillis,
    long lastSeenMillis,
    String assignor) {

  /** What a group uses if no member ever named another. */
  public static final String ASSIGNOR_DEFAULT = "sticky";

  /** How the group consumes. */
  public String mode() {
    return policy.mode();
  }

  /** The same, seen at another time. */
  public GroupInfo seenAt(long millis) {
    return new GroupInfo(name, policy, topics, start, createdMillis, millis, assignor);
  }
}
