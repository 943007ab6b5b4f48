package dev.evenkeel.cli;

import java.io.PrintWriter;
import java.io.StringWriter;
import picocli.CommandLine;

/** Runs a command as the program does, in this JVM. */
public final class CommandInJvm {
  private CommandInJvm() {}

  /**
   * For commands that print by the command line's own writers, as those over HTTP do.
   *
   * @return the exit status
   */
  public static int run(StringWriter out, StringWriter err, String... args) {
    CommandLine line = Main.commandLine();
    line.setOut(new PrintWriter(out)).setErr(new PrintWriter(err));
    return line.execute(args);
  }
}
