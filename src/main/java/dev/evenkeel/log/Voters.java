package dev.evenkeel.log;

import dev.evenkeel.protocol.VoterId;
import java.util.List;
import java.util.concurrent.CompletableFuture;

/**
 * Who has a vote in one log group, and who follows it. All methods may be called from any thread
 * and never block.
 */
public interface Voters {
  /** Names of those who vote, see {@link VoterId}, as far as this node knows. */
  List<String> names();

  /** Ids of the nodes that vote, sorted, as far as this node knows. */
  default List<String> nodes() {
    return names().stream().map(VoterId::node).distinct().sorted().toList();
  }

  /** Names of those who follow the log without a vote, as far as this node knows. */
  default List<String> listeners() {
    return List.of();
  }

  /** The followers, if this node leads; else none. */
  List<Follower> followers();

  /**
   * Adds a voter, whose node must have opened the group without any voters. Completes when it has
   * caught up and a majority has agreed, at once if it was added before. One that follows without a
   * vote leaves first: if the change fails after that, it is neither. Fails like {@link #remove},
   * and UNAVAILABLE if it does not answer.
   */
  CompletableFuture<Void> add(String voter);

  /**
   * Adds one who follows the log without a vote, as {@link #add} adds a voter. It may get a vote
   * later; a voter never loses its vote by this.
   */
  CompletableFuture<Void> addListener(String listener);

  /**
   * Removes every voter and listener of a node except the one named. Completes when a majority has
   * agreed, at once if that was done before. Fails like {@link LogGroup#append}, with OVERLOADED
   * while another change of voters is under way.
   *
   * @param except one voter to be kept, or null
   */
  CompletableFuture<Void> remove(String node, String except);
}
