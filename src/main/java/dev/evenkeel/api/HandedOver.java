package dev.evenkeel.api;

/**
 * Says that a leader has ended its work, after {@code handingOver} was true: now the next one may
 * begin.
 *
 * @param term at which it led
 */
@Body("Handover")
public record HandedOver(@Inline InElection in, long term) {}
