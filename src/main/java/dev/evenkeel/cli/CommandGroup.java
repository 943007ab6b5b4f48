package dev.evenkeel.cli;

import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** A command that does nothing without one of its own. */
public abstract class CommandGroup implements Runnable {
  private final String commands;

  /** The command itself. */
  @Spec CommandSpec spec;

  /**
   * @param commands what may follow, as a person would list it
   */
  protected CommandGroup(String commands) {
    this.commands = commands;
  }

  @Override
  public void run() {
    throw new ParameterException(spec.commandLine(), "a command is missing: " + commands);
  }
}
