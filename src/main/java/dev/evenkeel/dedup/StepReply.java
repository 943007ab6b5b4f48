package dev.evenkeel.dedup;

/**
 * What a step did.
 *
 * @param answer to an enQueue; else null
 * @param departure of a deQueue; else null
 * @param evicted claims that the step took away because their time was up
 * @param head who is the head after it, or null: so that whoever should know can be told
 */
public record StepReply(Answer answer, Departure departure, int evicted, SharedClaim head) {}
