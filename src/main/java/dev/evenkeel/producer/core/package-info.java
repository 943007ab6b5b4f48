/**
 * What a producer decides: messages, answers and the time in, batches to send and outcomes out.
 *
 * <p>{@code ProducerCore} is the way in; a {@code Lane} has the batches of one shard. Internal,
 * though some of it is public: applications use {@code dev.evenkeel.producer}. No clock, no I/O and
 * no Vert.x; it imports {@code model}, {@code wire}, and the options and values of the package
 * above.
 */
package dev.evenkeel.producer.core;
