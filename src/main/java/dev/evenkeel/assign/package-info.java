/** Who shall own which shard: a snapshot goes in, a plan comes out. */
package dev.evenkeel.assign;
