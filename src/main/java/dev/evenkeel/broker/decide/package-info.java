/**
 * What follows from a command: pure functions of state, command, log index and time. They read, and
 * answer with changes and a reply; nothing here alters anything.
 */
package dev.evenkeel.broker.decide;
