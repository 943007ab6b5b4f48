/**
 * Dedup and rates of a consumer: the steps that decide when a message may go from {@code
 * ConsumerCore} to the handler. They have no clock, no I/O and no Vert.x.
 *
 * <p>Begin with {@code DedupGate} and {@code RateGate}. A message passes them in this order, and a
 * consumer has only those that its options ask for.
 */
package dev.evenkeel.client.internal.admission;
