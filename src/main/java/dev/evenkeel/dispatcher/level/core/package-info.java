/**
 * What the level dispatcher of a group does next: deliveries, members' answers and the time come
 * in; what to send and what has ended come out. No I/O, no clock, one thread.
 */
package dev.evenkeel.dispatcher.level.core;
