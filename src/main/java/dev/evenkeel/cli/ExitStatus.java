package dev.evenkeel.cli;

/** The exit statuses of commands. */
public final class ExitStatus {
  public static final int DONE = 0;
  public static final int FAILED = 1;
  public static final int WRONG_USAGE = 2;

  private ExitStatus() {}
}
