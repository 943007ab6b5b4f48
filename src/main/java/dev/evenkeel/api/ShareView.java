package dev.evenkeel.api;

/**
 * What a user holds of something scarce on a node.
 *
 * @param kind what is scarce, such as sessions
 * @param node where
 * @param held by the user
 * @param limit of all users together
 */
public record ShareView(String user, String kind, String node, long held, long limit) {}
