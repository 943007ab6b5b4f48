package dev.evenkeel.protocol;

/**
 * Where a message is in the log of the cluster, beside its place in its shard. Messages that were
 * sent together may have the same one. Of two messages of a log group, the one with the lower index
 * was stored first.
 *
 * @param group number of the data log group, from 0; its name is d0, d1 and so on
 * @param index of the log entry that has the message; a delayed message keeps the entry that it was
 *     sent with
 */
public record LogPosition(int group, long index) {
  /** The name of the log group, as the status of the cluster shows it. */
  public String groupName() {
    return ShardGroups.name(group);
  }

  @Override
  public String toString() {
    return groupName() + "@" + index;
  }
}
