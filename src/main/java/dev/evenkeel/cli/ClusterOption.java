package dev.evenkeel.cli;

import dev.evenkeel.client.ClientOptions;
import java.util.List;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** The nodes to connect to, and how: {@code --cluster}, {@code --ca} and {@code --token-file}. */
public final class ClusterOption {
  @Option(
      names = "--cluster",
      paramLabel = "HOST:PORT",
      split = ",",
      defaultValue = "127.0.0.1:5701",
      description =
          "Base ports of one or more nodes. One that answers is enough (default: ${DEFAULT-VALUE}).")
  public List<String> nodes;

  @Mixin private CredentialOptions credentials;

  /** How to connect to these nodes. */
  public ClientOptions options() {
    return credentials.on(new ClientOptions().setSeeds(nodes));
  }
}
