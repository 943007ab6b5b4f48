package dev.evenkeel.api;

/**
 * Sends messages as server-sent events, as long as they are read. Begins with messages that were
 * given before and have no result. Each event `message` has a PolledMessage as its data; the event
 * `end` has an Error.
 */
public record StreamMessages(@Inline InSession in) {}
