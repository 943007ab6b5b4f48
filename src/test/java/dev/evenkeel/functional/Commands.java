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
}
