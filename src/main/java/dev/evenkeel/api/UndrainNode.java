package dev.evenkeel.api;

/**
 * Gives a drained node data again.
 *
 * @param node id of the node
 */
public record UndrainNode(String node) {}
