package dev.evenkeel.api;

/**
 * Moves all data off a node, which stays in the cluster.
 *
 * @param node id of the node
 */
public record DrainNode(String node) {}
