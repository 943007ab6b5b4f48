package dev.evenkeel.api;

import org.jspecify.annotations.Nullable;

/**
 * The health of a node.
 *
 * @param reason why it is down
 */
public record HealthView(Status status, String node, @LeftOut @Nullable String reason) {
  /** Whether the node is well. */
  public enum Status {
    UP,
    DOWN
  }
}
