/**
 * What the level dispatcher of a group (the dealer) and the group's members say to each other.
 *
 * <p>The dealer runs on the dispatcher's node and holds the group lease, whose term numbers it.
 * With each member it has a <em>session</em>, which it begins by {@link
 * dev.evenkeel.bus.level.SessionStart}; of two the one with the higher (term, session) counts, and
 * whatever belongs to a lower one is refused FENCED. Messages of a session are numbered from 0 in
 * the order in which they were dealt; those that the member kept from the session before come
 * first, in the order in which its {@link dev.evenkeel.bus.level.SessionState} named them.
 *
 * <p>State, not events: a {@link dev.evenkeel.bus.level.Report} says all that the dealer does not
 * surely know yet, and a {@link dev.evenkeel.bus.level.HandOut} that was lost or came twice is told
 * from its numbers.
 */
package dev.evenkeel.bus.level;
