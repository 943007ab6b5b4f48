/**
 * Frames of the client port: what an application and a node say to each other on one TCP
 * connection. Both sides use this package.
 *
 * <p>Begin with {@link dev.evenkeel.bus.frame.FrameKind}; {@link
 * dev.evenkeel.bus.frame.FrameSocket} reads and writes frames.
 */
package dev.evenkeel.bus.frame;
