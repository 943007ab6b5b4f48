/**
 * Deduplication of requests in flight: of all requests with one key at most one is processed and at
 * most one waits; the others are declined. It reads no clock and does no I/O.
 *
 * <p>Begin with {@link dev.evenkeel.dedup.Automaton}, the states of one key. {@link
 * dev.evenkeel.dedup.LocalCoordinator} keeps many keys in one JVM, {@link
 * dev.evenkeel.dedup.ClusteredCoordinator} across the cluster.
 */
@NullMarked
package dev.evenkeel.dedup;

import org.jspecify.annotations.NullMarked;
