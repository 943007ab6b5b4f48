package dev.evenkeel.api;

import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The last replacement of a lost node.
 *
 * @param progress null: there was none
 */
public record ReplacementView(
    @LeftOut @Nullable String node, State state, @Inline @Nullable Progress progress) {
  public enum State {
    RUNNING,
    DONE,
    FAILED,
    NONE
  }

  /**
   * @param groups what was done to the log groups
   * @param message why it failed
   */
  public record Progress(Map<String, Step> groups, @Nullable String message) {}

  public enum Step {
    WAITING,
    REMOVED,
    ADDED
  }
}
