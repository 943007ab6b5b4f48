package dev.evenkeel.api;

/**
 * Shows a delayed message that waits.
 *
 * @param topic name of the topic
 * @param id id of the delayed message, from the answer to its sending or from the list
 */
public record GetDelayedMessage(String topic, String id) {}
