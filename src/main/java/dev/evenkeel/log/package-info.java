/**
 * The port to the replicated log: append gives a future of being committed, and a leadership.
 *
 * <p>The contracts that a broker relies on are on these interfaces; {@code log.raft} is the one
 * implementation. It imports {@code model} and {@code wire}.
 */
package dev.evenkeel.log;
