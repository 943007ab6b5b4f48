/**
 * What the level dispatcher of a group decides: deliveries, members' answers and the time come in;
 * messages to send and messages that have ended go out. It has no I/O, no clock, and one thread.
 *
 * <p>Begin with {@code LevelDispatch}.
 */
@NullMarked
package dev.evenkeel.dispatcher.level.core;

import org.jspecify.annotations.NullMarked;
