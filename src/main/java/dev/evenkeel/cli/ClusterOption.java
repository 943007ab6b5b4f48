package dev.evenkeel.cli;

import java.util.List;
import picocli.CommandLine.Option;

/** The option {@code --cluster}: the nodes to connect to. */
public final class ClusterOption {
  @Option(
      names = "--cluster",
      paramLabel = "HOST:PORT",
      split = ",",
      defaultValue = "127.0.0.1:5701",
      description =
          "Base ports of one or more nodes. One that answers is enough (default: ${DEFAULT-VALUE}).")
  public List<String> nodes;
}
