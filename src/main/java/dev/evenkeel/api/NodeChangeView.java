package dev.evenkeel.api;

import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * How far a change of a node is: what is left to be done.
 *
 * @param groups the log groups whose copies still move, each with what is waited for
 * @param estimate how much is to be moved; null: nothing ever is
 * @param message what an operator has to do
 */
public record NodeChangeView(
    String node,
    State state,
    Membership membership,
    Map<String, String> groups,
    @Inline @Nullable Estimate estimate,
    @LeftOut @Nullable String message) {
  public enum State {
    RUNNING,
    DONE
  }

  public enum Membership {
    NONE,
    ADMITTED,
    MEMBER,
    DRAINING,
    LEAVING
  }

  public record Estimate(long bytesLeft, @Nullable Long secondsLeft) {}
}
