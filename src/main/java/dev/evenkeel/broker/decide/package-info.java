/**
 * What follows from a command: pure functions of state, command, log index and time.
 *
 * <p>They read, and answer with changes and a reply; nothing here alters anything. It imports
 * {@code broker.state}, {@code model}, {@code wire}, and of the store only what reads.
 */
package dev.evenkeel.broker.decide;
