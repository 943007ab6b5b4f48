package dev.evenkeel.api;

/**
 * Moves all data off a node, and takes it out of the cluster.
 *
 * @param node id of the node
 */
public record RemoveNode(String node) {}
