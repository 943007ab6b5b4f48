/**
 * The replicated log over Apache Ratis. No other package knows Ratis.
 *
 * <p>Begin with {@code RaftLogNode}, which keeps a node's log groups in its data directory, and
 * refuses a directory that belongs to another node or cluster. {@code StateAdapter} stands between
 * Ratis and the state of one log group; {@code LogBodies} keeps bodies out of the log, {@code
 * LogTail} cuts what a crash left unfinished, and {@code SnapshotInstall} copies snapshots.
 */
package dev.evenkeel.log.raft;
