/**
 * What a command changes: pure functions of state, command, log index and time. They change nothing
 * themselves; they return changes and a reply.
 *
 * <p>There is one class for each command or a few related ones. Begin with {@code AppendDecider}.
 */
@NullMarked
package dev.evenkeel.broker.decide;

import org.jspecify.annotations.NullMarked;
