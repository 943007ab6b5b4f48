package dev.evenkeel.cli;

import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** The node to ask by HTTP, and how: {@code --http}, {@code --ca} and {@code --token-file}. */
final class HttpOption {
  @Option(
      names = "--http",
      paramLabel = "URL",
      defaultValue = HttpApi.DEFAULT_URL,
      description = "HTTP address of a node (default: ${DEFAULT-VALUE}).")
  private String url;

  @Mixin private CredentialOptions credentials;

  HttpApi api() {
    return new HttpApi(url, credentials.read());
  }
}
