/**
 * Producers without a spool: they collect messages into batches, send each batch to the leader of
 * its shard, and retry until the outcome is known.
 *
 * <p>Begin with {@code BatchingProducer}. The decisions are in {@code produce.core}; {@code
 * BatchSender}, which producers with a spool use too, carries them out with Appender and
 * EpochOpener.
 */
package dev.evenkeel.client.internal.produce;
