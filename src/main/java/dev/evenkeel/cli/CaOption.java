package dev.evenkeel.cli;

import picocli.CommandLine.Option;

/** The option {@code --ca}: whom a command trusts. */
public final class CaOption {
  /** The environment's way to say the same. */
  static final String VARIABLE = "EVENKEEL_CA";

  @Option(
      names = "--ca",
      paramLabel = "FILE",
      description =
          "Speak TLS, and trust nodes whose certificates are signed by an authority in this PEM"
              + " file (default: the environment variable EVENKEEL_CA; without both, no TLS).")
  private String file;

  /** The file, or null: no TLS. */
  public String file() {
    String unset = System.getenv(VARIABLE);
    return file != null ? file : unset == null || unset.isEmpty() ? null : unset;
  }
}
