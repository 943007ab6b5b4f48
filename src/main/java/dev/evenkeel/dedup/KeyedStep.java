package dev.evenkeel.dedup;

/** A step and the key whose automaton takes it. */
public record KeyedStep(DedupKey key, StepRequest request) {}
