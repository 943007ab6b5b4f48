package dev.evenkeel.functional;

import dev.evenkeel.cli.CommandsHere;
import java.util.ArrayList;
import java.util.List;

/** The administrative commands against a node, run in the tests' own JVM: no other has to start. */
final class Commands {
  private Commands() {}

  static Jar.Result run(Node node, String... args) {
    List<String> all = new ArrayList<>(List.of(args));
    all.addAll(List.of("--http", node.url()));
    CommandsHere.Ran ran = CommandsHere.run(all.toArray(String[]::new));
    return new Jar.Result(ran.status(), ran.out(), ran.err());
  }

  /** The same, which must succeed. */
  static Jar.Result done(Node node, String... args) {
    Jar.Result result = run(node, args);
    if (result.status() != 0) {
      throw new AssertionError(String.join(" ", args) + ": " + result);
    }
    return result;
  }
}
