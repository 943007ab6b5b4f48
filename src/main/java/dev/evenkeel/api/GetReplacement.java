package dev.evenkeel.api;

/**
 * How far the last replacement is.
 *
 * @param node id of the lost node
 */
public record GetReplacement(String node) {}
