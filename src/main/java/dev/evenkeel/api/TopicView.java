package dev.evenkeel.api;

import org.jspecify.annotations.Nullable;

/**
 * A topic.
 *
 * @param shards how many shards take messages
 * @param limits its settings
 * @param createdMillis when it was created, milliseconds since 1970
 * @param figures what it holds; null after a change of the topic
 */
public record TopicView(
    String name,
    int shards,
    @Inline @Whole TopicLimits limits,
    long createdMillis,
    @Inline @Nullable Figures figures) {

  /**
   * What a topic holds.
   *
   * @param messages messages kept; null if unknown
   * @param bytes bytes kept; null if unknown
   * @param messagesDropped messages that a limit dropped before some group consumed them
   * @param delayed delayed messages that are not due yet; null if unknown
   * @param nextDueMillis when the next of them is due, milliseconds since 1970; null if none waits
   *     or it is unknown
   */
  public record Figures(
      @Nullable Long messages,
      @Nullable Long bytes,
      @Nullable Long messagesDropped,
      @Nullable Long delayed,
      @Nullable Long nextDueMillis) {}
}
