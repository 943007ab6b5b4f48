package dev.evenkeel.functional;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.function.Predicate;
import java.util.regex.Pattern;
import java.util.stream.IntStream;

/** What a node has logged. That its event loops were free is looked at when it ends. */
public final class NodeLog {
  /** The topic whose settings strangers may change, and so drop what their groups still need. */
  static final String ABUSED = "abused";

  private static final Pattern BUG =
      Pattern.compile(
          "^[0-9:.]+ ERROR (?!\\S+ - consumer \\S+: %s/\\S+: .*retention (has )?dropped )"
                  .formatted(ABUSED)
              + "|internal error|Unhandled exception|OutOfMemoryError");

  private NodeLog() {}

  /** How much of what follows the line of an error is shown: the beginning of its stack trace. */
  private static final int LINES_SHOWN = 25;

  /** Whatever others send is no reason for an error. */
  public static void assertNoError(List<Node> nodes) {
    for (Node node : nodes) {
      List<String> lines = node.process().err().lines().toList();
      assertThat(errors(lines)).as(node.url()).isEmpty();
    }
  }

  private static List<String> errors(List<String> lines) {
    return IntStream.range(0, lines.size())
        .filter(i -> BUG.matcher(lines.get(i)).find())
        .mapToObj(i -> lines.subList(i, Math.min(i + LINES_SHOWN, lines.size())))
        .map(shown -> String.join(System.lineSeparator(), shown))
        .toList();
  }

  /** How many lines about this there are. */
  static long lines(Node node, Predicate<String> about) {
    return node.process().err().lines().filter(about).count();
  }
}
