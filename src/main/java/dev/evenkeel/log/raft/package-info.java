/**
 * The replicated log over Apache Ratis, and the only place that knows Ratis.
 *
 * <p>It keeps a node's log groups in its data directory, and refuses to start on one that belongs
 * to another node or cluster. It imports {@code log}, {@code model} and {@code wire}.
 */
package dev.evenkeel.log.raft;
