package dev.evenkeel.cli;

/** Ends a command. The message is one line: what is wrong and how to correct it. */
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

  /**
   * Ends the command if something is wrong usage.
   *
   * @throws CommandFailure if so
   */
  public static void refuseIf(boolean wrong, String message) {
    if (wrong) {
      throw usage(message);
    }
  }

  public int exitStatus() {
    return exitStatus;
  }
}
