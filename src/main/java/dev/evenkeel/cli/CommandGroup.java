package dev.evenkeel.cli;

import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** A command that only has subcommands. */
public abstract class CommandGroup implements Runnable {
  private final String commands;

  /** The model of this command. */
  @Spec CommandSpec spec;

  /**
   * @param commands the subcommands, as the error lists them
   */
  protected CommandGroup(String commands) {
    this.commands = commands;
  }

  @Override
  public void run() {
    throw new ParameterException(spec.commandLine(), "a command is missing: " + commands);
  }
}
