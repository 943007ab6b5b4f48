package dev.evenkeel.seconduser;

import dev.evenkeel.protocol.RefusedException;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;

/** What a node answered to an attacker: how often, and an example of each kind. */
final class Outcome {
  private static final int SHOWN_CHARS = 160;

  private final Map<String, Long> counts = new TreeMap<>();
  private final Map<String, String> examples = new TreeMap<>();

  synchronized void count(String what) {
    counts.merge(what, 1L, Long::sum);
  }

  private synchronized void example(String what, String text) {
    count(what);
    if (text != null) {
      examples.putIfAbsent(
          what, text.length() > SHOWN_CHARS ? text.substring(0, SHOWN_CHARS) : text);
    }
  }

  /**
   * @param refused null: it was not
   */
  void answered(RefusedException refused) {
    if (refused == null) {
      count("OK");
    } else {
      refused(refused.refusal().name(), refused.getMessage());
    }
  }

  void refused(String refusal, String words) {
    example(refusal, words);
  }

  void closed(String reason) {
    example("GOODBYE", reason);
  }

  void failed(Exception failure) {
    example(
        failure instanceof RefusedException refused
            ? refused.refusal().name()
            : failure.getClass().getSimpleName(),
        failure.getMessage());
  }

  /** An answer over HTTP. */
  void answered(RawHttp.Answer answer) {
    example(String.valueOf(answer.status()), answer.status() < 300 ? null : answer.body());
  }

  /** Whether the node has told of an error of its own. */
  synchronized boolean tellsOfBug() {
    return counts.containsKey("INTERNAL") || counts.containsKey("500");
  }

  /** In one line. */
  @Override
  public synchronized String toString() {
    return counts.entrySet().stream()
        .map(
            each ->
                each.getKey()
                    + " "
                    + each.getValue()
                    + (examples.containsKey(each.getKey())
                        ? " (" + examples.get(each.getKey()).replaceAll("\\s+", " ") + ")"
                        : ""))
        .collect(Collectors.joining(", "));
  }
}
