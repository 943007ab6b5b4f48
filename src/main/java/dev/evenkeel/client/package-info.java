/**
 * The public API: producers, consumers, their options, and what handlers receive.
 *
 * <p>Nothing else in the client jar is public API. Begin with {@link
 * dev.evenkeel.client.EvenkeelClient}, which {@code dev.evenkeel.Evenkeel} gives you.
 */
package dev.evenkeel.client;
