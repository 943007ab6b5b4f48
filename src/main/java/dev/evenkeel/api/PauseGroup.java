package dev.evenkeel.api;

import org.jspecify.annotations.Nullable;

/**
 * Pauses a group, or a topic or shard of it. Its members get no more messages until it is resumed.
 * They keep their shards, and finish what they have. Pausing twice is no error. Refused in mode
 * broadcast.
 *
 * @param group name of the group
 * @param topic only this topic; left out: all that the group reads
 * @param shard only this shard of the topic; left out: all
 */
@Body("PauseScope")
public record PauseGroup(
    String group, @Nullable String topic, @Bounds(min = 0) @Nullable Integer shard) {

  /**
   * What is paused, or resumed.
   *
   * @param topic {@code null}: all topics of the group
   * @param shard {@code null}: all shards
   * @param paused {@code false} after resume
   */
  public record PauseResult(
      String group, @Nullable String topic, @Nullable Integer shard, boolean paused) {}
}
