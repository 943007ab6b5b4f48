package dev.evenkeel.api;

/** The nodes, and the logs as their leaders see them. */
public record DescribeCluster() {}
