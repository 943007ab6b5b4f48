package dev.evenkeel.log;

import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;

/**
 * Who leads one log group, and whether this node should. All methods may be called from any thread
 * and never block.
 */
public interface Elections {
  Leadership leadership();

  /**
   * Whether this node leads and no other one can lead now, since a majority has heard of this one
   * lately. A leader that has been cut off, or has stood still, is soon not sure of that.
   */
  default boolean leadsForSure() {
    return leadership().ready();
  }

  /** Called on each change, from any thread; it must return at once. */
  void onLeadership(Consumer<Leadership> listener);

  /** Removes a listener that {@link #onLeadership} added. It may be called once more. */
  void offLeadership(Consumer<Leadership> listener);

  /** The reasons why this node should not lead this log group; whoever finds one sets it there. */
  Eligibility eligibility();

  /** Asks another node to lead; fails if it does not within a few seconds. */
  CompletableFuture<Void> handLeadershipTo(String nodeId);

  /**
   * Another node has said who leads. It counts as long as this node's own log knows no leader of
   * that term or a later one, as where this node has no vote.
   *
   * @param leader node id
   */
  default void heard(String leader, long term) {}
}
