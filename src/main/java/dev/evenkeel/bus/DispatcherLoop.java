package dev.evenkeel.bus;

import io.netty.channel.EventLoop;

/**
 * The event loop on which this node's dispatcher works, in {@link LocalObjects}. A plan for a
 * thousand members takes it a while, so no client's connection should be served there.
 */
public record DispatcherLoop(EventLoop loop) {}
