package dev.evenkeel.api;

/**
 * How far a node is on its way into the cluster, or out of it.
 *
 * @param node id of the node
 */
public record GetNodeChange(String node) {}
