package dev.evenkeel.bench;

import dev.evenkeel.cli.CommandFailure;
import dev.evenkeel.cli.HttpApi;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The metrics of a node at one moment.
 *
 * @param text the answer to {@code GET /metrics}
 */
record NodeMetrics(String text) {
  private static final Pattern NODE =
      Pattern.compile("(?m)^evenkeel_build_info\\{.*?\\bnode=\"([^\"]*)\"");

  /**
   * @param url HTTP address of the node
   * @throws CommandFailure if it does not answer
   */
  static NodeMetrics read(String url) {
    return new NodeMetrics(new HttpApi(url).text("/metrics"));
  }

  /** The name of the node; null if these are not the metrics of a node. */
  String node() {
    Matcher matcher = NODE.matcher(text);
    return matcher.find() ? matcher.group(1) : null;
  }

  /** Bytes that the node has written to disk; NaN if it does not say. */
  double writtenBytes() {
    return sum("evenkeel_process_written_bytes ");
  }

  /** The heap, including garbage; NaN if the node does not say. */
  double heapBytes() {
    return sum("jvm_memory_used_bytes{area=\"heap\"");
  }

  private double sum(String begin) {
    double[] values =
        text.lines()
            .filter(line -> line.startsWith(begin))
            .mapToDouble(line -> Double.parseDouble(line.substring(line.lastIndexOf(' ') + 1)))
            .toArray();
    double sum = values.length == 0 ? Double.NaN : 0;
    for (double value : values) {
      sum += value;
    }
    return sum;
  }
}
