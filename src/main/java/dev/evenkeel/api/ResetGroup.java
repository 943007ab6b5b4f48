package dev.evenkeel.api;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Sets a group to another place. Refused while a consumer owns one of the shards, unless forced.
 *
 * @param group name of the group
 * @param to {@code earliest}, {@code latest}, an offset like 12345, or a time like
 *     2026-01-31T12:00:00Z
 * @param topic only this topic; all if left out
 * @param shard only this shard
 * @param force take the shards from the consumers that own them
 * @param dryRun only show what would move
 */
@Body("NewOffsets")
public record ResetGroup(
    String group,
    @AlsoNumber String to,
    @Nullable String topic,
    @Bounds(min = 0) @Nullable Integer shard,
    @Default("false") boolean force,
    @Default("false") boolean dryRun) {

  /** All shards that nobody owns. */
  public static ResetGroup of(String group, String to) {
    return new ResetGroup(group, to, null, null, false, false);
  }

  /** All shards of a topic. */
  public ResetGroup ofTopic(String newTopic) {
    return new ResetGroup(group, to, newTopic, shard, force, dryRun);
  }

  /** One shard of the topic. */
  public ResetGroup ofShard(int newShard) {
    return new ResetGroup(group, to, topic, newShard, force, dryRun);
  }

  /** Also shards that a member owns. */
  public ResetGroup forced() {
    return new ResetGroup(group, to, topic, shard, true, dryRun);
  }

  /** Only says what would be done. */
  public ResetGroup dry() {
    return new ResetGroup(group, to, topic, shard, force, true);
  }

  /** What moved where; PENDING shards follow when they are free. */
  public record OffsetReset(String group, boolean dryRun, List<ResetShard> shards) {}

  /**
   * What became of a shard.
   *
   * @param owner member that owned the shard
   * @param from committed offset before
   * @param to committed offset after
   * @param state DONE, PENDING, DRY_RUN, or the word of a refusal
   * @param epoch of the lease
   * @param generation grows with each reset
   * @param waitsFor what a PENDING shard waits for
   */
  public record ResetShard(
      String topic,
      int shard,
      @Nullable String owner,
      @Nullable Long from,
      long to,
      String state,
      @LeftOut @Nullable Long epoch,
      @LeftOut @Nullable Long generation,
      @LeftOut @Nullable String waitsFor) {}
}
