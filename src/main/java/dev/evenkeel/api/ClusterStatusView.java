package dev.evenkeel.api;

import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The cluster.
 *
 * @param cluster id of the cluster
 * @param node the node that answered
 * @param dispatcher the node whose dispatcher is active
 * @param featureLevel the highest feature level of log entries that every node has said it reads
 * @param nodes every voter, sorted
 */
@Body("Cluster")
public record ClusterStatusView(
    String cluster,
    String node,
    @Nullable String dispatcher,
    @Nullable Integer featureLevel,
    List<Node> nodes,
    List<Log> logs) {
  /**
   * @param version the version of the node's program
   * @param featureLevel the highest feature level of log entries that the node reads
   * @param disk the space on the node's disk; null if it is unknown
   * @param unanswered the nodes that do not answer this node, although they are in the cluster;
   *     null if it is unknown
   * @param place null: nobody can tell
   */
  public record Node(
      String node,
      @Nullable Boolean alive,
      @Nullable String host,
      @Nullable String version,
      @Nullable Integer featureLevel,
      @Nullable Disk disk,
      @Nullable List<Unanswered> unanswered,
      @Inline @Nullable NodePlace place) {}

  /**
   * @param freeBytes free space
   * @param freeBytesMin with less free space than this, the node refuses messages
   */
  public record Disk(long freeBytes, long freeBytesMin) {}

  /**
   * @param millis for how long it has not answered, in milliseconds
   */
  public record Unanswered(String node, long millis) {}

  /**
   * @param membership as in NodeChange
   * @param votes log groups of which it has a copy
   * @param bytes bytes of messages that it keeps
   * @param moving the log groups whose copies still move, each with what is waited for
   * @param bytesLeft bytes that are still to be moved
   * @param secondsLeft an estimate of the time that the moves take; null if there is none
   * @param message what an operator has to do
   */
  public record NodePlace(
      @Nullable String membership,
      @Nullable String zone,
      @Nullable Integer votes,
      @Nullable Long bytes,
      @Nullable Map<String, String> moving,
      long bytesLeft,
      @Nullable Long secondsLeft,
      @Nullable String message) {}

  /**
   * @param group name of the log group: meta, d0, d1, ...
   * @param followers as the leader knows them
   * @param storage what each node stores for the log group; nodes that do not know it yet are
   *     missing
   * @param ineligible nodes that should not lead the group, and give it away while another can lead
   * @param digests of each node that answers, the digest of its state: of nodes with the same
   *     appliedIndex and since it must be the same
   * @param diverged nodes whose states were found to differ although they have applied the same
   *     entries: a bug, or a fault of memory or disk
   * @param place null: nobody can tell
   */
  public record Log(
      String group,
      @Nullable String leader,
      @Nullable Long term,
      @Nullable Long commitIndex,
      @Nullable Long appliedIndex,
      List<Follower> followers,
      List<Storage> storage,
      List<Ineligible> ineligible,
      List<Digest> digests,
      List<Diverged> diverged,
      @Inline @Nullable LogPlace place) {}

  public record Follower(String node, @Nullable Long matchIndex, @Nullable Long lagEntries) {}

  /**
   * @param liveBytes bytes of stored messages that are needed
   * @param deadBytes bytes of messages that were dropped or deleted and still take space
   * @param lostMessages messages of which every node's copy is damaged, as far as the node knows
   */
  public record Storage(String node, long liveBytes, long deadBytes, long lostMessages) {}

  public record Ineligible(
      String node,
      @Words({"DAMAGED", "DISK_FULL", "DIVERGED", "DRAINING", "FAR_BEHIND", "OUT_OF_VIEW"})
          String reason,
      String detail) {}

  /**
   * @param appliedIndex last log entry that the node has applied
   * @param since first log entry that counts
   * @param digest 16 hexadecimal digits
   */
  public record Digest(String node, @Nullable Long appliedIndex, long since, String digest) {}

  /**
   * @param node the node that found it
   * @param from the node whose state differs from its own
   * @param detail since which log entries
   */
  public record Diverged(String node, String from, String detail) {}

  /**
   * @param voters nodes that vote in it
   * @param listeners nodes that follow it without a vote
   * @param target nodes that are to vote; null if that has never changed
   * @param waits what a move waits for
   */
  public record LogPlace(
      @Nullable List<String> voters,
      @Nullable List<String> listeners,
      @Nullable List<String> target,
      @Nullable String waits) {}

  /** The example in the OpenAPI document. */
  static ClusterStatusView example() {
    return new ClusterStatusView(
        "fe00262e-59c9-42e6-a15f-88a30cfed95a",
        "n1",
        "n1",
        8,
        List.of(
            new Node(
                "n1",
                true,
                "10.0.0.1",
                "0.1.0",
                8,
                new Disk(7L << 30, 1 << 30),
                List.of(),
                new NodePlace("MEMBER", null, 4, 361L, Map.of(), 0, null, null))),
        List.of(
            new Log(
                "d1",
                "n1",
                1L,
                7L,
                7L,
                List.of(new Follower("n2", 7L, 0L)),
                List.of(new Storage("n1", 317, 0, 0)),
                List.of(),
                List.of(new Digest("n1", 7L, 0, "2a812ac5a76cf2f6")),
                List.of(),
                new LogPlace(List.of("n1", "n2", "n3"), List.of(), null, null))));
  }
}
