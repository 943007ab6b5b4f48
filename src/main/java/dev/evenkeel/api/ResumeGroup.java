package dev.evenkeel.api;

import org.jspecify.annotations.Nullable;

/**
 * Resumes a group, or a topic or shard of it. Its members get messages again. All pauses of the
 * group, or of the topic, end. No error if nothing is paused.
 *
 * @param group name of the group
 * @param topic only this topic; left out: all that the group reads
 * @param shard only this shard of the topic; left out: all
 */
@Body("PauseScope")
public record ResumeGroup(
    String group, @Nullable String topic, @Bounds(min = 0) @Nullable Integer shard) {}
