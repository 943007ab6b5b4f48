/**
 * A member's side of level dispatch: which messages the group's level dispatcher has handed out to
 * it, and what it reports back. It has no clock, no I/O and no threads.
 *
 * <p>Begin with {@code LevelWork}. The messages between the two sides are in {@code bus.level}.
 */
package dev.evenkeel.client.internal.level;
