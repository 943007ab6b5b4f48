package dev.evenkeel.cli;

import dev.evenkeel.client.ClientOptions;
import java.util.List;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** The nodes to connect to, and how: {@code --cluster} and {@code --ca}. */
public final class ClusterOption {
  @Option(
      names = "--cluster",
      paramLabel = "HOST:PORT",
      split = ",",
      defaultValue = "127.0.0.1:5701",
      description =
          "Base ports of one or more nodes. One that answers is enough (default: ${DEFAULT-VALUE}).")
  public List<String> nodes;

  @Mixin private CaOption ca;

  /** How to connect to these nodes. */
  public ClientOptions options() {
    return new ClientOptions().setSeeds(nodes).setCa(ca.file());
  }
}
