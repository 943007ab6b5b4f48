package dev.evenkeel.log;

/**
 * This node cannot read an entry that another node wrote, so it must stop: skipping the entry would
 * make its state differ from theirs. The message is one line that says what to do.
 */
public final class UnreadableEntryException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  public UnreadableEntryException(String message, Throwable cause) {
    super(message, cause);
  }
}
