package dev.evenkeel.cli;

import java.io.PrintWriter;
import java.io.StringWriter;
import picocli.CommandLine;

/**
 * Runs commands of the command line in this JVM, so that no other has to start: those that speak to
 * a node's HTTP API and end, like {@code topic} and {@code group}.
 */
public final class CommandsHere {
  private CommandsHere() {}

  /** What a command left. */
  public record Ran(int status, String out, String err) {}

  public static Ran run(String... args) {
    StringWriter out = new StringWriter();
    StringWriter err = new StringWriter();
    CommandLine line = Main.commandLine();
    line.setOut(new PrintWriter(out)).setErr(new PrintWriter(err));
    int status = line.execute(args);
    return new Ran(status, out.toString(), err.toString());
  }
}
