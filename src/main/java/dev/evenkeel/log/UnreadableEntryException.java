package dev.evenkeel.log;

/**
 * This node cannot read what others of its cluster wrote, so it must stop: to pass over it would
 * leave it with a state that differs from theirs. The message is one line that says what to do.
 */
public final class UnreadableEntryException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  public UnreadableEntryException(String message, Throwable cause) {
    super(message, cause);
  }
}
