package dev.evenkeel.log;

import dev.evenkeel.util.files.ByteRate;
import java.io.IOException;
import java.util.concurrent.CompletableFuture;

/**
 * This node's copy of one log group: the files of the log, and snapshots of the state. All methods
 * may be called from any thread; only {@link #checkFiles} blocks.
 */
public interface LogCopy {
  /** Whether this node has anything of the log group. */
  default boolean exists() {
    return true;
  }

  /**
   * Whether the state, at some moment since this node started, contained everything that was
   * committed until then. Before that, it may lack entries that were committed long ago: without a
   * leader, a node that has started does not know which entries of its log are committed.
   */
  boolean caughtUp();

  /**
   * Index of the first entry that the log still has, and may send to a follower; one above the last
   * if it has none. It never falls in the life of a node.
   */
  default long firstIndex() {
    return 0;
  }

  /**
   * Size of a file of the log. Files are dropped as a whole: after an entry of so many bytes and
   * one more, all that stand in front of them can be dropped.
   */
  default int fileBytes() {
    return 0;
  }

  /** Takes a snapshot now and purges the log up to it. Completes with the snapshot's index. */
  CompletableFuture<Long> snapshot();

  /** Index of the newest snapshot on this node's disk; -1 if there is none. */
  default long snapshotIndex() {
    return -1;
  }

  /**
   * Deletes all snapshots but the newest one. They keep the space of bodies that were deleted after
   * them.
   */
  default CompletableFuture<Void> dropFormerSnapshots() {
    return CompletableFuture.completedFuture(null);
  }

  /** What this node has received of other nodes' snapshots. */
  default SnapshotTransfer snapshotTransfer() {
    return SnapshotTransfer.NONE;
  }

  /**
   * Notes that this node's copy of the state or of the log is damaged: another node should lead.
   * Known after a restart, too.
   *
   * @param detail a line for people
   */
  default void damaged(String detail) {}

  /**
   * Compares the files of the log that are not written to any more with their checksums, and notes
   * damage. Waits for the disk.
   *
   * @param rate how fast to read
   */
  default void checkFiles(ByteRate rate) throws IOException {}

  /**
   * Gives a damaged copy up: the node stops, and its next start copies the log group from the other
   * nodes. Nothing happens unless the copy is known to be damaged, another node leads, and there is
   * one to copy from.
   */
  default void copyAnew() {}

  /** Times that a damaged copy became whole again, since this node started. */
  default long copiedAnew() {
    return 0;
  }
}
