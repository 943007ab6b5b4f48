/**
 * The classes that an application names first: {@link dev.evenkeel.Evenkeel} connects to a cluster,
 * and {@link dev.evenkeel.ConsumerVerticle} and {@link dev.evenkeel.ProducerVerticle} can be
 * deployed by name.
 *
 * <p>Everything else that an application uses is in {@code dev.evenkeel.client}. Begin with {@code
 * Evenkeel}.
 */
package dev.evenkeel;
