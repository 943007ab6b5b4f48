package dev.evenkeel.cli;

import java.util.List;
import java.util.ServiceLoader;
import picocli.CommandLine;

/**
 * Commands of another package. {@link Main} finds providers with {@link ServiceLoader}, so that the
 * benchmark and the demo, which use what is here, need not be known here.
 */
public interface Subcommands {
  /** New commands, each with a name that {@link Main} knows the place of. */
  List<CommandLine> commands();
}
