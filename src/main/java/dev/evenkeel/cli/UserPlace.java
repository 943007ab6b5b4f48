package dev.evenkeel.cli;

import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.nio.file.Path;
import java.util.function.Supplier;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/**
 * Where the users are that a command is about: in a file, or with {@code --http} in the cluster.
 * The words after the command are FILE and NAME, or NAME alone.
 */
final class UserPlace {
  @Spec(Spec.Target.MIXEE)
  private CommandSpec spec;

  @Option(
      names = "--http",
      paramLabel = "URL",
      description =
          "HTTP address of a node, such as https://n1:8080: the command is about the users that the"
              + " cluster keeps, and takes no FILE.")
  private String url;

  @Mixin private CredentialOptions credentials;

  @Option(
      names = "--format",
      paramLabel = "text|json",
      defaultValue = "text",
      description = "text for people, json for programs (default: ${DEFAULT-VALUE}).")
  private ApiOptions.Format format;

  private HttpApi api;

  /** Whether the command is about the users that the cluster keeps. */
  boolean isCluster() {
    CommandFailure.refuseIf(
        url == null && credentials.areGiven(),
        "--ca, --token-file, --cert and --cert-key are for a node: name it with --http URL");
    return url != null;
  }

  HttpApi api() {
    api = api == null ? new HttpApi(url, credentials.read()) : api;
    return api;
  }

  /**
   * The name of the user.
   *
   * @param second null: there is one word at most
   */
  String name(String first, String second) {
    CommandFailure.refuseIf(
        isCluster() && second != null,
        "with --http, the command is about the users that the cluster keeps: leave out '%s', or"
                .formatted(first)
            + " leave out --http");
    CommandFailure.refuseIf(
        first == null || !isCluster() && second == null,
        "the %s is missing: write FILE NAME for users in a file, or NAME --http URL for those that"
                .formatted(
                    first == null && !isCluster() ? "file with the users" : "name of the user")
            + " the cluster keeps");
    return isCluster() ? first : second;
  }

  /** The file with the users. */
  Path file(String first) {
    CommandFailure.refuseIf(
        isCluster() && first != null,
        "with --http, the command is about the users that the cluster keeps: leave out '%s', or"
                .formatted(first)
            + " leave out --http");
    CommandFailure.refuseIf(
        !isCluster() && first == null,
        "the file with the users is missing: name it, or name a node of the cluster with --http"
            + " URL");
    return first == null ? null : Path.of(first);
  }

  /** Says something beside the answer. */
  void note(String words) {
    spec.commandLine().getErr().println(words);
  }

  /** Prints an answer as JSON, or as text. */
  void print(Object json, Supplier<String> text) {
    String shown =
        format == ApiOptions.Format.text
            ? text.get()
            : (json instanceof JsonArray array
                    ? array.encodePrettily()
                    : ((JsonObject) json).encodePrettily())
                + "\n";
    spec.commandLine().getOut().print(shown);
    spec.commandLine().getOut().flush();
  }
}
