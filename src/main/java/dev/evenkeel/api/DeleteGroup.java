package dev.evenkeel.api;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Deletes a group, or a topic of it. Refused while a member reads what would be deleted.
 *
 * @param group name of the group
 * @param topic delete only this topic from the group; left out: the whole group
 * @param dryRun only show what would be deleted
 */
public record DeleteGroup(String group, @Nullable String topic, @Default("false") boolean dryRun) {

  /**
   * What was deleted, or would be.
   *
   * @param refused of a dry run: why the deletion would be refused now
   */
  public record GroupDeletion(
      String group,
      @Nullable String topic,
      boolean dryRun,
      List<DeletedShard> shards,
      @Nullable String refused) {}

  /**
   * What the group had of a shard.
   *
   * @param bytesFreed bytes that retention could then drop, as no other group needs them
   */
  public record DeletedShard(
      String topic,
      int shard,
      @Nullable Long committed,
      @Nullable Long end,
      @Nullable Long lag,
      @Nullable Long deadLetters,
      @Nullable Long retries,
      @Nullable Long bytesFreed) {}
}
