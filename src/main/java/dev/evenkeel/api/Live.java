package dev.evenkeel.api;

/** Whether the node lives. */
public record Live() {}
