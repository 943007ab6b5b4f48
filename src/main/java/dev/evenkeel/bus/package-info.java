/**
 * What travels on the event bus: addresses, frames, requests and answers, and the {@code Link} that
 * carries them.
 *
 * <p>Begin with {@link dev.evenkeel.bus.Addresses} and {@link dev.evenkeel.bus.Op}; {@link
 * dev.evenkeel.bus.ClusterDirectory} knows which node leads what, and {@link
 * dev.evenkeel.bus.LeaderClient} asks it.
 *
 * <p>It is no API for applications: it changes without notice.
 */
package dev.evenkeel.bus;
