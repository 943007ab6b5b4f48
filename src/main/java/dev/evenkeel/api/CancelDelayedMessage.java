package dev.evenkeel.api;

/**
 * Cancels a delayed message: no consumer gets it. UNKNOWN_MESSAGE if it does not wait any more: it
 * was delivered or cancelled before. After INDETERMINATE it may be cancelled. An id from before a
 * reshard still works; while the message moves to its new shard, the answer is UNAVAILABLE.
 *
 * @param topic name of the topic
 * @param id id of the delayed message, from the answer to its sending or from the list
 */
public record CancelDelayedMessage(String topic, String id) {
  /** Says that nobody gets the message. */
  public record CancelledMessage(String id, boolean cancelled) {}
}
