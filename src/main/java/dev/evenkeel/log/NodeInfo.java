package dev.evenkeel.log;

import dev.evenkeel.protocol.VoterId;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What a node tells the other nodes about itself and the cluster that its data directory belongs
 * to.
 *
 * @param node its id
 * @param incarnation random id of its data directory, made before any other node knew of it
 * @param stage how far it is
 * @param clusterId the cluster's id, or null while it knows none
 * @param voters names of the first voters (see {@link VoterId}), sorted; empty while it knows none,
 *     and for a node that was taken in later
 * @param peers ids of all nodes, sorted, from its settings
 * @param dataGroups how many data log groups the cluster has or is to have
 */
public record NodeInfo(
    String node,
    String incarnation,
    Stage stage,
    @Nullable String clusterId,
    List<String> voters,
    List<String> peers,
    int dataGroups) {

  /**
   * How far a node is. EMPTY → AGREED → OPENING → FORMED, each on disk before anybody is told;
   * WAITING is what an empty node tells that has found a formed cluster. A crash goes on from what
   * the disk says, which for WAITING is EMPTY.
   */
  public enum Stage {
    /** The disk holds nothing: the node has never agreed to anything. */
    EMPTY,
    /** The node is empty, but there is a cluster that must take it in. */
    WAITING,
    /** The node knows the cluster's id and voters, and has opened nothing. */
    AGREED,
    /** The node may have voted. */
    OPENING,
    /** All its logs were open once: none may be missing from now on. */
    FORMED,
    /** The cluster has taken the node out, and it must not vote again. */
    REMOVED;

    /** Whether a node of this stage may have taken part in a vote. */
    public boolean mayHaveVoted() {
      return this == OPENING || this == FORMED;
    }
  }

  public NodeInfo {
    voters = List.copyOf(voters);
    peers = List.copyOf(peers);
  }

  /** The name under which it votes. */
  public String voter() {
    return VoterId.of(node, incarnation);
  }

  public NodeInfo with(Stage newStage) {
    return new NodeInfo(node, incarnation, newStage, clusterId, voters, peers, dataGroups);
  }

  public NodeInfo agreed(String newClusterId, List<String> newVoters) {
    return new NodeInfo(
        node, incarnation, Stage.AGREED, newClusterId, newVoters, peers, dataGroups);
  }
}
