package dev.evenkeel.log;

/**
 * What this node has received of other nodes' snapshots of one log group.
 *
 * @param from the node that a snapshot is being copied from; null: none is
 * @param bytesTotal length of the files of that snapshot, or 0
 * @param bytesHere how much of them is here, or 0
 * @param bytesReceived over the network, of all snapshots since this node started
 * @param restarts how often a transfer broke and went on, since this node started
 * @param damagedFiles how many files came with bytes that did not match their checksum and were
 *     fetched again, since this node started
 */
public record SnapshotTransfer(
    String from,
    long bytesTotal,
    long bytesHere,
    long bytesReceived,
    long restarts,
    long damagedFiles) {
  public static final SnapshotTransfer NONE = new SnapshotTransfer(null, 0, 0, 0, 0, 0);
}
