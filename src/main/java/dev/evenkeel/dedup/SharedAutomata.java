package dev.evenkeel.dedup;

import java.util.Set;
import java.util.concurrent.CompletionStage;

/**
 * The port to automata that all processes of a cluster share. It may lose what it holds and may
 * fail to answer; {@link ClusteredCoordinator} lives with both. Nothing here blocks.
 */
public interface SharedAutomata {
  /** Told, on any thread, that a claim of this process is the head. May be told twice, or never. */
  interface Turns {
    /**
     * @param waitsUntilMillis of the claim, which tells by which request it became the head
     */
    void head(DedupKey key, long token, long waitsUntilMillis);
  }

  /** Name of this process in claims. Its end gives up all claims under it. */
  String member();

  /**
   * Adds a listener for the tokens whose upper 16 bits are the number that it gets.
   *
   * @return that number
   */
  int listen(Turns turns);

  void forget(int number);

  /** The clock by which steps are done; it may differ a little from that of other processes. */
  long nowMillis();

  /** Does one step. It fails when nothing answers in time; then it is not known whether it ran. */
  CompletionStage<StepReply> step(Step step);

  /** Tells the process of {@code head} that it is the head of {@code key}. May be lost. */
  void tell(DedupKey key, Claim head);

  /**
   * Takes away the claims of processes that are not in {@code alive}, and those at work for too
   * long; tells the new heads.
   *
   * @return how many
   */
  CompletionStage<Integer> sweep(Set<String> alive);

  /** Keys that this process's steps pushed out, since it began, because there were too many. */
  default long overflowed() {
    return 0;
  }
}
