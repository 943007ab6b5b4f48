/**
 * The replicated log over Apache Ratis. No other package knows Ratis.
 *
 * <p>Begin with {@code RaftLogNode}, which keeps a node's log groups in its data directory, and
 * refuses a directory that belongs to another node or cluster.
 */
package dev.evenkeel.log.raft;
