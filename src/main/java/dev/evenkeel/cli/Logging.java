package dev.evenkeel.cli;

/** Sets the log levels. Call it before the first logger is created. */
public final class Logging {
  /** Whether the user gave {@code --verbose}. */
  private static volatile boolean verbose;

  private Logging() {}

  static void verbose(boolean more) {
    verbose = more;
  }

  /** The levels of a node, and of other programs that log what happens to them. */
  public static void node() {
    levels("INFO", verbose ? "INFO" : "WARN");
  }

  /** The levels of other commands, which log errors only. */
  public static void client() {
    levels(verbose ? "INFO" : "ERROR", verbose ? "INFO" : "OFF");
  }

  private static void levels(String ours, String engines) {
    setUnlessSet("evenkeel.log.level", ours);
    setUnlessSet("evenkeel.log.engines", engines);
  }

  private static void setUnlessSet(String property, String value) {
    if (System.getProperty(property) == null) {
      System.setProperty(property, value);
    }
  }
}
