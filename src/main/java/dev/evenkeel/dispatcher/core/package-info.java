/**
 * What the dispatcher decides: state, input and time come in, actions go out. It has no clock and
 * no I/O.
 *
 * <p>Begin with {@code DispatcherCore}, which sets the order of the steps and names the class for
 * each.
 */
package dev.evenkeel.dispatcher.core;
