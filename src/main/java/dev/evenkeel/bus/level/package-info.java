/**
 * The messages between the level dispatcher of a group (in the code: the dealer) and the group's
 * members. Begin with {@link dev.evenkeel.bus.level.SessionStart}.
 *
 * <p>The dealer has a <em>session</em> with each member, under the term of the group lease. The
 * session with the higher (term, session) counts, and what belongs to a lower one is refused with
 * FENCED. Messages of a session are numbered from 0 in the order in which they were dealt. Those
 * that the member kept from the previous session come first, in the order in which its {@link
 * dev.evenkeel.bus.level.SessionState} named them.
 *
 * <p>Messages may be lost or come twice: a {@link dev.evenkeel.bus.level.Report} says everything
 * that the dealer may not know yet, and the numbers in a {@link dev.evenkeel.bus.level.HandOut}
 * show what is missing or repeated.
 */
package dev.evenkeel.bus.level;
