package dev.evenkeel.cli;

/** A command ended with another status than 0, or could not be started. No stack trace. */
final class ExecFailed extends Exception {
  private static final long serialVersionUID = 1L;

  ExecFailed(String message) {
    super(message, null, false, false);
  }
}
