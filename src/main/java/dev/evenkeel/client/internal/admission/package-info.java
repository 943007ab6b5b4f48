/**
 * The steps between a consumer's shards and its handler: a message passes them one after another,
 * and waits in at most one. {@code ConsumerCore} comes first and admits what its flow control let
 * in, then {@code DedupGate}, then {@code RateGate}; a consumer has the steps that its options ask
 * for. No clock, no I/O and no Vert.x.
 */
package dev.evenkeel.client.internal.admission;
