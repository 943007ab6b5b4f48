package dev.evenkeel.api;

import java.util.List;

/**
 * Waits for messages. The session does not expire while a request waits. If the caller closes the
 * connection before it has the answer, the next request gets the messages.
 *
 * @param max most messages in the answer
 * @param waitMs how long it waits if there is no message, in milliseconds
 * @param again whether messages that were given before and have no result come first
 */
public record PollMessages(
    @Inline InSession in,
    @Bounds(min = 1, max = 1_000) @Default("32") int max,
    @Bounds(min = 0, max = 15_000) @Default("15000") int waitMs,
    @Default("false") boolean again) {
  /** What there is; empty if nothing came in time. */
  public record PolledMessages(List<PolledMessageView> messages) {}
}
