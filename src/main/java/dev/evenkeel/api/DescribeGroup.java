package dev.evenkeel.api;

/**
 * A group with members and shards.
 *
 * @param group name of the group
 */
public record DescribeGroup(String group) {}
