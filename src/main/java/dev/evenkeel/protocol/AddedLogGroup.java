package dev.evenkeel.protocol;

import static dev.evenkeel.protocol.Refusal.INVALID;

import java.util.List;

/**
 * A data log group that was added to the cluster after it was formed.
 *
 * @param index its number among the data log groups; added ones follow those that the cluster was
 *     formed with
 * @param founders ids of its first voters. They never change: its log says who votes later
 * @param open whether it has begun to work, so that it gets shards
 */
public record AddedLogGroup(int index, List<String> founders, boolean open) {
  /** Most data log groups of a cluster. */
  public static final int GROUPS_MAX = 1_000;

  public AddedLogGroup {
    founders = List.copyOf(founders);
  }

  public AddedLogGroup opened() {
    return new AddedLogGroup(index, founders, true);
  }

  /**
   * @throws RefusedException INVALID unless there may be such a group
   */
  public void check() {
    if (index < 1 || index >= GROUPS_MAX) {
      throw INVALID.error("data group %s: a cluster has 1 to %s data groups", index, GROUPS_MAX);
    }
    if (founders.isEmpty()) {
      throw INVALID.error("data group %s without voters", index);
    }
  }
}
