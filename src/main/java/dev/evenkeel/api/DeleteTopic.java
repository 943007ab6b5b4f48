package dev.evenkeel.api;

/**
 * Deletes a topic with its messages.
 *
 * @param name name of the topic
 */
public record DeleteTopic(String name) {
  /** Says that there is no such topic any more. */
  public record DeletedTopic(String name, boolean deleted) {}
}
