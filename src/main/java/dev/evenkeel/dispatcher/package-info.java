/**
 * The dispatcher: takes heartbeats, keeps the registry, and gives shards to members.
 *
 * <p>{@code DispatcherVerticle} translates between the event bus and the pure {@code core}. It
 * imports {@code model}, {@code wire}, {@code bus}, {@code assign}, {@code cluster} and {@code
 * log}.
 */
package dev.evenkeel.dispatcher;
