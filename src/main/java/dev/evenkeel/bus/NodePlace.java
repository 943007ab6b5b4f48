package dev.evenkeel.bus;

/** Where a node takes connections of clients. */
public record NodePlace(String node, String host, int port) {}
