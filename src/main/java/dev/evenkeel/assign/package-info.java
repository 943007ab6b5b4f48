/**
 * Who shall own which shard: a snapshot goes in, a plan comes out.
 *
 * <p>Deterministic and without clock or I/O. It imports {@code model}.
 */
package dev.evenkeel.assign;
