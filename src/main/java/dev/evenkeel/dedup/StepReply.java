package dev.evenkeel.dedup;

import org.jspecify.annotations.Nullable;

/**
 * The result of a step.
 *
 * @param answer the answer to an enQueue; otherwise null
 * @param departure the result of a deQueue; otherwise null
 * @param evicted how many claims the step evicted because they took too long
 * @param head the head after the step, so that the caller can tell it
 */
public record StepReply(
    @Nullable Answer answer,
    @Nullable Departure departure,
    int evicted,
    @Nullable SharedClaim head) {}
