/**
 * The addresses, frames, requests and answers of the event bus, and the {@code Link} that carries
 * them.
 *
 * <p>Begin with {@link dev.evenkeel.bus.Addresses} and {@link dev.evenkeel.bus.Op}; {@link
 * dev.evenkeel.bus.ClusterDirectory} knows which node leads which log group, and {@link
 * dev.evenkeel.bus.LeaderClient} asks it.
 *
 * <p>It is no API for applications: it changes without notice.
 */
package dev.evenkeel.bus;
