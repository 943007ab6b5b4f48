/**
 * Producers without a spool: they collect messages into batches, send each batch to the leader of
 * its shard, and retry until the outcome is known.
 *
 * <p>Begin with {@code BatchingProducer}. The decisions are in {@code produce.core}; {@code
 * BatchSender} carries them out, also for producers with a spool.
 */
package dev.evenkeel.client.internal.produce;
