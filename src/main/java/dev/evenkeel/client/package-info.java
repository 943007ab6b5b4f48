/**
 * The public API: producers, consumers, their options, and what handlers receive. Begin with {@link
 * dev.evenkeel.client.EvenkeelClient}, which {@code dev.evenkeel.Evenkeel} gives you.
 *
 * <p>The API is this package, the public classes of {@code dev.evenkeel}, and the types of {@code
 * dev.evenkeel.protocol} that their methods name: {@code Message}, {@code StartAt}, {@code
 * RefusedException}, {@code Refusal} and {@code Limits}. {@code dev.evenkeel.level} and {@code
 * dev.evenkeel.dedup} can be used alone, in one JVM. Everything else in the client jar changes
 * without notice.
 *
 * <p>A call that cannot be done fails with {@link dev.evenkeel.protocol.RefusedException}.
 */
package dev.evenkeel.client;
