package dev.evenkeel.api;

import org.jspecify.annotations.Nullable;

/** All groups. Lists the groups that the user may see. */
public record ListGroups() {
  /**
   * A line of the list of groups.
   *
   * @param mode sharded, level, singleton or broadcast
   * @param status OK, or one word for what is wrong with the assignment
   * @param paused whether the group is paused as a whole
   * @param shardsPaused from how many shards the group gets nothing because it is paused
   * @param topicsLeftOut topics that members subscribe to and that the group does not read; missing
   *     if there are none
   * @param members how many there are
   * @param shards how many the group reads
   * @param lag messages not finished; null if unknown
   */
  public record GroupSummary(
      String group,
      @Nullable String mode,
      String status,
      boolean paused,
      @Default("0") long shardsPaused,
      @LeftOut long topicsLeftOut,
      int members,
      int shards,
      @Nullable Long lag) {}
}
