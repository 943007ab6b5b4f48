package dev.evenkeel.cli;

/** Sets how much is logged, before the first logger is made. */
public final class Logging {
  /** Whether the command line asks for more. */
  private static volatile boolean verbose;

  private Logging() {}

  static void verbose(boolean more) {
    verbose = more;
  }

  /** A node tells what happens to it. */
  public static void node() {
    levels("INFO", verbose ? "INFO" : "WARN");
  }

  /** A command says only what its user needs to know. */
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
