/** What the dispatcher decides: state, input and time in, actions out. No clock and no I/O. */
package dev.evenkeel.dispatcher.core;
