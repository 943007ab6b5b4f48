package dev.evenkeel.bench;

import io.vertx.core.json.JsonObject;
import java.util.Locale;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.stream.Collectors;

/**
 * The bytes that nodes have written to disk, and the bytes of the batches that these writes keep:
 * up to a moment, or, as the difference of two moments, during a run.
 *
 * @param nodes bytes written to disk by each node; null if they are unknown
 * @param batchBytes bytes of the batches in the topic, with their headers, counted once and not for
 *     each replica; null if they are unknown
 * @param unknown why {@code nodes} is unknown; null if it is known
 */
record DiskWrites(SortedMap<String, Long> nodes, Long batchBytes, String unknown) {

  /**
   * @param nodes bytes written to disk by each node; NaN if a node does not know them
   * @param batchBytes null if they are unknown
   */
  static DiskWrites of(Map<String, Double> nodes, Long batchBytes) {
    SortedMap<String, Long> known = new TreeMap<>();
    for (Map.Entry<String, Double> node : nodes.entrySet()) {
      if (node.getValue().isNaN()) {
        return unknown(
            "node " + node.getKey() + " gives no figure: it needs /proc/PID/io, which Linux has",
            batchBytes);
      }
      known.put(node.getKey(), Math.round(node.getValue()));
    }
    return new DiskWrites(known, batchBytes, null);
  }

  static DiskWrites unknown(String why, Long batchBytes) {
    return new DiskWrites(null, batchBytes, why);
  }

  /** What was written between an earlier moment and this one. */
  DiskWrites since(DiskWrites before) {
    if (batchBytes == null || before.batchBytes == null) {
      return unknown("a shard of the topic has no leader", null);
    }
    long batches = batchBytes - before.batchBytes;
    if (nodes == null || before.nodes == null) {
      return unknown(nodes == null ? unknown : before.unknown, batches);
    }
    if (batches <= 0) {
      return unknown("no batch was stored", batches);
    }
    SortedMap<String, Long> written = new TreeMap<>();
    for (Map.Entry<String, Long> node : nodes.entrySet()) {
      Long begin = before.nodes.get(node.getKey());
      if (begin == null || node.getValue() < begin) {
        return unknown("node " + node.getKey() + " started again during the run", batches);
      }
      written.put(node.getKey(), node.getValue() - begin);
    }
    return new DiskWrites(written, batches, null);
  }

  private double ratio(String node) {
    return (double) nodes.get(node) / batchBytes;
  }

  /** The figure of the node that wrote most in a run; null if it is unknown. */
  Double worstRatio() {
    return nodes == null
        ? null
        : Stats.rounded(nodes.keySet().stream().mapToDouble(this::ratio).max().orElseThrow());
  }

  /** Adds the figures of a run to its result. */
  void putInto(JsonObject result) {
    JsonObject ratios = null;
    JsonObject bytes = null;
    if (nodes != null) {
      ratios = new JsonObject();
      bytes = new JsonObject();
      for (String node : nodes.keySet()) {
        ratios.put(node, Stats.rounded(ratio(node)));
        bytes.put(node, nodes.get(node));
      }
    }
    result
        .put("writtenRatio", ratios)
        .put("writtenBytes", bytes)
        .put("ackedBatchBytes", batchBytes)
        .put("writtenUnknown", unknown);
  }

  /** The figures of a run, as lines. */
  String text() {
    if (nodes == null) {
      return "written to disk: unknown, because " + unknown;
    }
    return nodes.keySet().stream()
        .map(
            node ->
                String.format(
                    Locale.ROOT,
                    "written to disk%s: %.2f bytes for each byte of batches",
                    nodes.size() == 1 ? "" : " by " + node,
                    ratio(node)))
        .collect(Collectors.joining("\n"));
  }
}
