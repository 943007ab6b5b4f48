package dev.evenkeel.log;

import dev.evenkeel.protocol.VoterId;
import dev.evenkeel.protocol.files.ByteRate;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;

/** One replicated log on this node. All methods may be called from any thread and never block. */
public interface LogGroup {
  /** "meta", or "d0", "d1", ... */
  String name();

  /**
   * Appends one entry. The log keeps its head, and {@link ReplicatedState#bodies()} its body;
   * neither must be changed afterwards. Entries appended one after another by one thread are logged
   * in that order.
   *
   * <p>The future completes, on any thread, with the state's reply: then the entry is committed by
   * a majority, fsynced there, and applied here. It fails with {@code RefusedException}: NOT_LEADER
   * (the detail is the leader's node id or empty; the entry is not in the log), OVERLOADED,
   * DISK_FULL or UNAVAILABLE (not in the log), TOO_LARGE (not in the log), INDETERMINATE (it may or
   * may not be), and, not in the log, with what {@link ReplicatedState#admit} refuses.
   */
  CompletableFuture<ByteBuffer> append(ByteBuffer head, List<ByteBuffer> body);

  /** Appends an entry without a body; whatever goes wrong fails the future. */
  default CompletableFuture<ByteBuffer> append(byte[] entry) {
    try {
      return append(ByteBuffer.wrap(entry), List.of());
    } catch (RuntimeException e) {
      return CompletableFuture.failedFuture(e);
    }
  }

  /**
   * Waits until a committed entry is on the disk of every voter. Completes then, or when the time
   * is over, on any thread, with how far the disks are. Fails with {@code RefusedException}:
   * NOT_LEADER as {@link #append}, OVERLOADED if too many wait.
   *
   * @param index of the entry; -1: the last one that is committed now
   */
  CompletableFuture<Replicas> awaitReplicas(long index, long timeoutMillis);

  Leadership leadership();

  /**
   * Whether the state, at some moment since this node started, contained everything that was
   * committed until then. Before that, it may lack entries that were committed long ago: without a
   * leader, a node that has started does not know which entries of its log are committed.
   */
  boolean caughtUp();

  /** Called on each change, from any thread; it must return at once. */
  void onLeadership(Consumer<Leadership> listener);

  /** Removes a listener that {@link #onLeadership} added. It may be called once more. */
  void offLeadership(Consumer<Leadership> listener);

  /** The reasons why this node should not lead this log group; whoever finds one sets it there. */
  Eligibility eligibility();

  /**
   * Notes that this node's copy of the state or of the log is damaged: another node should lead.
   * Known after a restart, too.
   *
   * @param detail a line for people
   */
  default void damaged(String detail) {}

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

  /**
   * Compares the files of the log that are not written to any more with their checksums, and notes
   * damage. Waits for the disk.
   *
   * @param rate how fast to read
   */
  default void checkFiles(ByteRate rate) throws IOException {}

  /** Asks another node to lead; fails if it does not within a few seconds. */
  CompletableFuture<Void> handLeadershipTo(String nodeId);

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

  /**
   * Size of a file of the log. Files are dropped as a whole: after an entry of so many bytes and
   * one more, all that stand in front of them can be dropped.
   */
  default int fileBytes() {
    return 0;
  }

  /**
   * Index of the first entry that the log still has, and may send to a follower; one above the last
   * if it has none. It never falls in the life of a node.
   */
  default long firstIndex() {
    return 0;
  }

  /** The status of this log group, for people; numbers may be a moment old. */
  LogStatus status();

  /** What this node has received of other nodes' snapshots. */
  default SnapshotTransfer snapshotTransfer() {
    return SnapshotTransfer.NONE;
  }

  /** The followers, if this node leads; else none. */
  List<Follower> followers();

  /** Names of those who vote, see {@link VoterId}, as far as this node knows. */
  List<String> voters();

  /** Names of those who follow the log without a vote, as far as this node knows. */
  default List<String> listeners() {
    return List.of();
  }

  /**
   * Removes every voter and listener of a node except the one named. Completes when a majority has
   * agreed, at once if that was done before. Fails like {@link #append}, with OVERLOADED while
   * another change of voters is under way.
   *
   * @param except one voter to be kept, or null
   */
  CompletableFuture<Void> removeVoters(String node, String except);

  /**
   * Another node has said who leads. It counts as long as this node's own log knows no leader of
   * that term or a later one, as where this node has no vote.
   *
   * @param leader node id
   */
  default void heard(String leader, long term) {}

  /** Ids of the nodes that vote, sorted, as far as this node knows. */
  default List<String> votingNodes() {
    return voters().stream().map(VoterId::node).distinct().sorted().toList();
  }

  /** Whether this node has anything of the log group. */
  default boolean holdsCopy() {
    return true;
  }

  /**
   * Adds a voter, whose node must have opened the group without any voters. Completes when it has
   * caught up and a majority has agreed, at once if it was added before. One that follows without a
   * vote leaves first: if the change fails after that, it is neither. Fails like {@link
   * #removeVoters}, and UNAVAILABLE if it does not answer.
   */
  CompletableFuture<Void> addVoter(String voter);

  /**
   * Adds one who follows the log without a vote, as {@link #addVoter} adds a voter. It may get a
   * vote later; a voter never loses its vote by this.
   */
  CompletableFuture<Void> addListener(String listener);
}
