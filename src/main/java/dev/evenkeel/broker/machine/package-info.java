/**
 * The replicated state machines: log entries in, state in the store and replies out.
 *
 * <p>Every node applies the same entries with the same result, so no clock is read here. It imports
 * {@code broker.state} and {@code broker.decide}, and the ports of log and store.
 */
package dev.evenkeel.broker.machine;
