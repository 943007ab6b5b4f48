/**
 * In-flight deduplication: of one key at most one is worked on, at most one waits, and every
 * further one is declined. The {@link dev.evenkeel.dedup.Automaton} of a key, coordinators of many
 * keys in one JVM or over the cluster, and a meter that tells whether it is worth it.
 *
 * <p>No clock is read and no I/O done here; {@code now} comes from the caller. It imports the JDK
 * only: wake-ups are the JDK's futures.
 */
package dev.evenkeel.dedup;
