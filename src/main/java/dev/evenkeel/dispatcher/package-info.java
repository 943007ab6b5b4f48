/**
 * The dispatcher verticle: it takes heartbeats, keeps the registry, and gives shards to members.
 *
 * <p>Begin with {@link dev.evenkeel.dispatcher.DispatcherVerticle}, which translates between the
 * event bus and {@code dispatcher.core}.
 */
package dev.evenkeel.dispatcher;
