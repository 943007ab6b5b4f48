package dev.evenkeel.cli;

import dev.evenkeel.api.Operation;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.io.PrintWriter;
import java.util.function.Function;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** The options of every command that talks to the HTTP API: the address and the output format. */
class ApiOptions {
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

  private HttpApi api;

  /** The options, and the name of a group. */
  static class OfGroup extends ApiOptions {
    @Parameters(index = "0", paramLabel = "GROUP", description = "Name of the group.")
    String group;
  }

  /** The options, and the name of a topic. */
  static final class OfTopic extends ApiOptions {
    @Parameters(index = "0", paramLabel = "NAME", description = "Name of the topic.")
    String name;
  }

  /** The options, and the id of a node. */
  static final class OfNode extends ApiOptions {
    @Parameters(index = "0", paramLabel = "NODE", description = "Id of the node.")
    String node;
  }

  HttpApi api() {
    api = api == null ? http.api() : api;
    return api;
  }

  /** Asks an operation of the API and prints the answer; gives the exit status. */
  <Q extends Record, A> int ask(Operation<Q, A> operation, Q question, Function<A, String> text) {
    return print(api().ask(operation, question), json -> text.apply(operation.readAnswer(json)));
  }

  /** Asks, and prints the same line for every answer. */
  <Q extends Record> int tell(Operation<Q, ?> operation, Q question, String line) {
    return print(api().ask(operation, question), json -> line + "\n");
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
