package dev.evenkeel.api;

/** All topics, by name. Lists the topics that the user may see. */
public record ListTopics() {}
