package dev.evenkeel.bench;

import dev.evenkeel.cli.Subcommands;
import java.util.List;
import picocli.CommandLine;

/** {@code evenkeel bench}. */
public final class BenchSubcommands implements Subcommands {
  @Override
  public List<CommandLine> commands() {
    return List.of(BenchCommand.line());
  }
}
