package dev.evenkeel.cli;

/** How a command ended. */
final class ExitStatus {
  static final int DONE = 0;
  static final int FAILED = 1;
  static final int WRONG_USAGE = 2;

  private ExitStatus() {}
}
