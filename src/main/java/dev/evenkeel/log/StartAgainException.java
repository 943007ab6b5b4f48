package dev.evenkeel.log;

/**
 * A node must be closed and started again, because its copy of a log group is damaged: the start
 * copies it anew from the other nodes.
 */
public final class StartAgainException extends Exception {
  private static final long serialVersionUID = 1L;

  public StartAgainException(String message) {
    super(message);
  }
}
