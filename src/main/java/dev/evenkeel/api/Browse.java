package dev.evenkeel.api;

import dev.evenkeel.protocol.Limits;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Reads messages of a shard without consuming them.
 *
 * @param topic name of the topic
 * @param shard which shard; may be left out if there is one only
 * @param offset first message wanted; the first kept if left out
 * @param at instead of offset: read from the first message at or after this time on. earliest,
 *     latest, milliseconds since 1970, or a time like 2026-01-31T12:00:00Z
 * @param key only messages with this key
 * @param limit most messages
 * @param page whether the answer says where to read on
 */
public record Browse(
    String topic,
    @Bounds(min = 0, max = Limits.SHARD_NUMBERS_MAX - 1) @Nullable Integer shard,
    @Bounds(min = 0) @Nullable Long offset,
    @AlsoNumber @Nullable String at,
    @Nullable String key,
    @Bounds(min = 1, max = 1_000) @Default("100") int limit,
    @Nullable Boolean page) {

  /**
   * Messages, by offset.
   *
   * @param nextOffset with at or key: the offset from which to read on. At the end of the shard, it
   *     is the next offset to be assigned
   */
  public record BrowsedMessages(List<MessageView> messages, @Nullable Long nextOffset) {}
}
