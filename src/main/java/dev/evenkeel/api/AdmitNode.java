package dev.evenkeel.api;

/**
 * Lets a new node connect to the others.
 *
 * @param node id of the node
 */
public record AdmitNode(String node) {}
