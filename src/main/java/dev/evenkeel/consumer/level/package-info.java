/**
 * A member's side of level dispatch: what the group's dealer has dealt to it, and what it says of
 * that. What is said is in {@code bus.level}. No clock, no I/O and no threads.
 */
package dev.evenkeel.consumer.level;
