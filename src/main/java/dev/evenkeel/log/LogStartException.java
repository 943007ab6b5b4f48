package dev.evenkeel.log;

/**
 * The logs cannot be opened, for a reason that a person must look into: a missing or damaged log, a
 * directory of another node, a busy port. The message is one line that says what to do.
 */
public class LogStartException extends Exception {
  private static final long serialVersionUID = 1L;

  public LogStartException(String message) {
    super(message);
  }

  public LogStartException(String message, Throwable cause) {
    super(message, cause);
  }
}
