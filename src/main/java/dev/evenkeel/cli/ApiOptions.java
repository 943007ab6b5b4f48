package dev.evenkeel.cli;

import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.io.PrintWriter;
import java.util.function.Function;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** What all commands over HTTP have in common. */
final class ApiOptions {
  enum Format {
    text,
    json
  }

  @Spec(Spec.Target.MIXEE)
  private CommandSpec spec;

  @Option(
      names = "--http",
      paramLabel = "URL",
      defaultValue = HttpApi.DEFAULT_URL,
      description = "HTTP address of a node (default: ${DEFAULT-VALUE}).")
  private String url;

  @Option(
      names = "--format",
      paramLabel = "text|json",
      defaultValue = "text",
      description = "text for people, json for programs (default: ${DEFAULT-VALUE}).")
  private Format format;

  HttpApi api() {
    return new HttpApi(url);
  }

  /** Prints what the API answers. */
  <T> int get(String path, Function<T, String> text) {
    return print(api().get(path), text);
  }

  /** Prints what the API answers to a call. */
  <T> int call(String method, String path, JsonObject body, Function<T, String> text) {
    return print(api().call(method, path, body), text);
  }

  /** Prints the answer as it came, or as {@code text} makes it readable. */
  <T> int print(T answer, Function<T, String> text) {
    PrintWriter out = spec.commandLine().getOut();
    if (format == Format.text) {
      out.print(text.apply(answer));
    } else if (answer instanceof JsonArray array) {
      out.println(array.encodePrettily());
    } else {
      out.println(((JsonObject) answer).encodePrettily());
    }
    out.flush();
    return ExitStatus.DONE;
  }
}
