package dev.evenkeel.functional;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.function.Predicate;
import java.util.regex.Pattern;

/** What a node has logged. That its event loops were free is looked at when it ends. */
final class NodeLog {
  private static final Pattern BUG =
      Pattern.compile("^[0-9:.]+ ERROR |internal error|Unhandled exception|OutOfMemoryError");

  private NodeLog() {}

  /** Whatever others send is no reason for an error. */
  static void assertNoError(List<Node> nodes) {
    for (Node node : nodes) {
      assertThat(node.process().err().lines().filter(BUG.asPredicate())).as(node.url()).isEmpty();
    }
  }

  /** How many lines about this there are. */
  static long lines(Node node, Predicate<String> about) {
    return node.process().err().lines().filter(about).count();
  }
}
