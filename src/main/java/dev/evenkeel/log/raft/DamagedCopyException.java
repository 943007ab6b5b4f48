package dev.evenkeel.log.raft;

import dev.evenkeel.log.LogStartException;

/**
 * A log group cannot be opened because this node's copy of it is damaged. If other nodes have the
 * log group, too, it can be copied anew.
 */
final class DamagedCopyException extends LogStartException {
  private static final long serialVersionUID = 1L;

  private final String group;

  DamagedCopyException(String group, String message, Throwable cause) {
    super(message, cause);
    this.group = group;
  }

  String group() {
    return group;
  }
}
