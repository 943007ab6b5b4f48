/**
 * The messages between the level dispatcher of a group and the members of the group. Begin with
 * {@link dev.evenkeel.bus.level.SessionStart}.
 *
 * <p>The level dispatcher has a <em>session</em> with each member, under the term of the group
 * lease. The session with the higher (term, session) counts; messages of a lower one are refused
 * with FENCED. Messages of a session are numbered from 0 in the order in which they were handed
 * out. Those that the member kept from the previous session come first, in the order in which its
 * {@link dev.evenkeel.bus.level.SessionState} names them.
 *
 * <p>Messages may be lost or repeated: each {@link dev.evenkeel.bus.level.Report} says everything
 * that the dispatcher may not know yet, and the numbers in a {@link dev.evenkeel.bus.level.HandOut}
 * show what is missing or repeated.
 */
package dev.evenkeel.bus.level;
