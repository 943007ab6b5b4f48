/**
 * The port to the replicated log: append a command and get a future that completes when a majority
 * has it, and know who leads.
 *
 * <p>Begin with {@link dev.evenkeel.log.LogGroup}, whose contracts the broker relies on. The log
 * writes through {@link dev.evenkeel.log.ReplicatedState} and {@link dev.evenkeel.log.EntryBodies}.
 * {@code log.raft} is the only implementation.
 */
package dev.evenkeel.log;
