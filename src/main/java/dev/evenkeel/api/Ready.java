package dev.evenkeel.api;

/** Whether the node can serve. */
public record Ready() {}
