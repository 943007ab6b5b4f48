package dev.evenkeel.log;

/** A node was removed from its cluster: it ends, and nothing is wrong. */
public final class NodeRemovedException extends Exception {
  private static final long serialVersionUID = 1L;

  public NodeRemovedException(String message) {
    super(message);
  }
}
