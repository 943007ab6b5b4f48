/** The replicated state machines: log entries in, state in the store and replies out. */
package dev.evenkeel.broker.machine;
