package dev.evenkeel.api;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Delayed messages that wait in a topic, the first due first. A page may have fewer messages than
 * limit, or none, although next is not null: a search takes several pages.
 *
 * @param topic name of the topic
 * @param key only messages with this key
 * @param limit most messages
 * @param from where the page begins: next of the page before
 */
public record ListDelayedMessages(
    String topic,
    @Nullable String key,
    @Bounds(min = 1, max = 1_000) @Default("100") int limit,
    @Nullable String from) {

  /**
   * Delayed messages, and where the next page begins.
   *
   * @param next where the next page begins, for the parameter from; null: this is the last page
   */
  public record DelayedMessages(List<DelayedMessageView> messages, @Nullable String next) {}
}
