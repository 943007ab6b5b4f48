/**
 * The dispatcher: takes heartbeats, keeps the registry, and gives shards to members. {@code
 * DispatcherVerticle} translates between the event bus and the pure {@code core}.
 */
package dev.evenkeel.dispatcher;
