/**
 * Producers: collect messages into batches, send them to the leaders of their shards, and try again
 * until the outcome is known.
 *
 * <p>{@code Producers} starts one. The decisions are in {@code core}; BatchingProducer, Appender
 * and EpochOpener carry them out. It imports {@code model}, {@code wire}, {@code bus} and {@code
 * cluster}.
 */
package dev.evenkeel.producer;
