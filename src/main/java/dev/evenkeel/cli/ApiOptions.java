package dev.evenkeel.cli;

import dev.evenkeel.api.Operation;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.io.PrintWriter;
import java.util.function.Function;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** The options of every command that talks to the HTTP API: the address and the output format. */
final class ApiOptions {
  enum Format {
    text,
    json
  }

  @Spec(Spec.Target.MIXEE)
  private CommandSpec spec;

  @Mixin private HttpOption http;

  @Option(
      names = "--format",
      paramLabel = "text|json",
      defaultValue = "text",
      description = "text for people, json for programs (default: ${DEFAULT-VALUE}).")
  private Format format;

  HttpApi api() {
    return http.api();
  }

  /** Asks an operation of the API and prints the answer; gives the exit status. */
  <Q extends Record, A> int ask(Operation<Q, A> operation, Q question, Function<A, String> text) {
    return ask(api(), operation, question, text);
  }

  /** The same for a command that has asked before. */
  <Q extends Record, A> int ask(
      HttpApi api, Operation<Q, A> operation, Q question, Function<A, String> text) {
    return print(api.ask(operation, question), json -> text.apply(operation.readAnswer(json)));
  }

  /** Gets a path and prints the answer; gives the exit status. */
  <T> int get(String path, Function<T, String> text) {
    return print(api().get(path), text);
  }

  /** Calls the API and prints the answer; gives the exit status. */
  <T> int call(String method, String path, JsonObject body, Function<T, String> text) {
    return print(api().call(method, path, body), text);
  }

  /** Prints an answer as JSON, or as the text that {@code text} makes of it. */
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
