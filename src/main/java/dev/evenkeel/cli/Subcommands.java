package dev.evenkeel.cli;

import java.util.List;
import java.util.ServiceLoader;
import picocli.CommandLine;

/**
 * Commands of another package. {@link Main} finds them with {@link ServiceLoader}, so this package
 * does not depend on the benchmarks and the demo, which depend on it.
 */
public interface Subcommands {
  /** New commands. {@link Main} lists their names in the order of its help. */
  List<CommandLine> commands();
}
