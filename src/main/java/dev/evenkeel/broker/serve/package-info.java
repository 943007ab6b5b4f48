/**
 * Answers requests of the event bus from a broker's state. All of it runs on one context.
 *
 * <p>Begin with {@code Service}, which knows the handler of each request.
 */
package dev.evenkeel.broker.serve;
