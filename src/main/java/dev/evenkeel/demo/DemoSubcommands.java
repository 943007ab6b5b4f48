package dev.evenkeel.demo;

import dev.evenkeel.cli.Subcommands;
import java.util.List;
import picocli.CommandLine;

/** {@code evenkeel demo}, and the command that it starts its consumers with. */
public final class DemoSubcommands implements Subcommands {
  @Override
  public List<CommandLine> commands() {
    return List.of(new CommandLine(new DemoCommand()), new CommandLine(new DemoMemberCommand()));
  }
}
