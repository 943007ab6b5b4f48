package dev.evenkeel.dedup;

import java.util.concurrent.CompletionStage;

/**
 * The port to automata that all processes of a cluster share. They may lose their contents and may
 * not answer; {@link ClusteredCoordinator} copes with both. No method blocks.
 */
public interface SharedAutomata {
  /**
   * Listens for claims of this process that become the head, on any thread. It may hear of one
   * twice, or never.
   */
  interface Turns {
    /**
     * @param waitsUntilMillis of the claim; it tells which request made it the head
     */
    void head(DedupKey key, long token, long waitsUntilMillis);
  }

  /**
   * Name of this process in claims: id of its session, or of its cluster member. When the process
   * ends, its claims are removed.
   */
  String member();

  /**
   * Adds a listener for claims whose tokens have its number in their upper 16 bits.
   *
   * @return that number
   */
  int listen(Turns turns);

  void forget(int number);

  /** The clock of all steps. It may differ a little from that of other processes. */
  long nowMillis();

  /** Runs one step. Fails if nothing answers in time; then the step may or may not have run. */
  CompletionStage<StepReply> step(Step step);

  /**
   * Tells the process of {@code head} that this claim is the head of {@code key}. The message may
   * be lost.
   */
  void tell(DedupKey key, Claim head);

  /**
   * Asks the cluster whether it still counts this process as alive. Completes when a majority of
   * the nodes has answered a question that was sent after this call; fails if none of the questions
   * is answered in time, or not by a majority.
   */
  CompletionStage<Void> heard();

  /**
   * How long after such a question was sent this process may still rely on its claims, in
   * milliseconds: shorter than the time after which the cluster gives it up. 0: the cluster does
   * not know it by the name {@link #member} any more.
   */
  long silentMillisMax();

  /** How many keys the steps of this process have pushed out because there were too many. */
  default long overflowed() {
    return 0;
  }
}
