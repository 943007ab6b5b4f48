/**
 * What the dispatcher decides: state, input and time in, actions out. No clock and no I/O.
 *
 * <p>{@code DispatcherCore} is the order of things; each responsibility has a room of its own,
 * named there. Internal to the dispatcher; it imports {@code model}, {@code assign} and the records
 * of {@code bus}.
 */
package dev.evenkeel.dispatcher.core;
