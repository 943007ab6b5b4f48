package dev.evenkeel.cli;

/** How a command ended. */
public final class ExitStatus {
  public static final int DONE = 0;
  public static final int FAILED = 1;
  public static final int WRONG_USAGE = 2;

  private ExitStatus() {}
}
