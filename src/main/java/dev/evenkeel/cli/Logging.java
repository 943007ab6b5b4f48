package dev.evenkeel.cli;

/** Sets how much is logged, before the first logger is made. */
public final class Logging {
  private Logging() {}

  /** A node tells what happens to it. */
  public static void node(boolean verbose) {
    levels("INFO", verbose ? "INFO" : "WARN");
  }

  /** A command says only what its user needs to know. */
  public static void client(boolean verbose) {
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
