package dev.evenkeel.cli;

/** Ends a command with one line that says what was wrong and what would be right. */
public final class CommandFailure extends RuntimeException {
  private static final long serialVersionUID = 1L;

  private final int exitStatus;

  private CommandFailure(int exitStatus, String message, Throwable cause) {
    super(message, cause);
    this.exitStatus = exitStatus;
  }

  public static CommandFailure failed(String message) {
    return new CommandFailure(ExitStatus.FAILED, message, null);
  }

  public static CommandFailure failed(String message, Throwable cause) {
    return new CommandFailure(ExitStatus.FAILED, message, cause);
  }

  public static CommandFailure usage(String message) {
    return new CommandFailure(ExitStatus.WRONG_USAGE, message, null);
  }

  public int exitStatus() {
    return exitStatus;
  }
}
