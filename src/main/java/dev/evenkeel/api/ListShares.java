package dev.evenkeel.api;

/**
 * What each user holds of what is scarce, by user, kind and node. Lists what the user holds itself;
 * what others hold needs view:*. A node that does not answer within a second is left out.
 */
public record ListShares() {}
