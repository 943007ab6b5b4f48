package dev.evenkeel.api;

/**
 * Puts the empty node that waits under this id in the place of the lost one.
 *
 * @param node id of the lost node
 */
public record ReplaceNode(String node) {}
