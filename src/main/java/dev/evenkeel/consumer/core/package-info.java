/**
 * What a consumer decides: events and the time in, actions and messages to run out.
 *
 * <p>{@code ConsumerCore} is the way in; {@code HoldMachine} has the life of one shard. Internal,
 * though some of it is public: applications use {@code dev.evenkeel.consumer}. No clock, no I/O and
 * no Vert.x; it imports {@code model}, {@code wire}, the records of {@code bus}, and the options
 * and values of the package above.
 */
package dev.evenkeel.consumer.core;
