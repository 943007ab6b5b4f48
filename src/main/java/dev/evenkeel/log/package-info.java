/**
 * The port to the replicated log: append a command and get a future that completes when a majority
 * has it, and know who leads.
 *
 * <p>Begin with {@link dev.evenkeel.log.LogGroup}, whose contracts the broker relies on. {@code
 * log.raft} is the only implementation.
 */
package dev.evenkeel.log;
