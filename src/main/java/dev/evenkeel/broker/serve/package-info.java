/**
 * Answers requests of the event bus from a broker's state; all of it runs on one context.
 *
 * <p>It imports the other parts of the broker, none of which imports it, and {@code bus}.
 */
package dev.evenkeel.broker.serve;
