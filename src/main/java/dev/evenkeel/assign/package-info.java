/**
 * Who should own which shard: a snapshot goes in, a plan comes out. It is deterministic, and has no
 * clock and no I/O.
 *
 * <p>Begin with {@link dev.evenkeel.assign.Planner}; {@link dev.evenkeel.assign.Assignor} is what a
 * user may replace.
 */
@NullMarked
package dev.evenkeel.assign;

import org.jspecify.annotations.NullMarked;
