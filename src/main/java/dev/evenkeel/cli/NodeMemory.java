package dev.evenkeel.cli;

import dev.evenkeel.broker.node.HeapShares;
import dev.evenkeel.bus.DirectAnswers;
import dev.evenkeel.log.raft.RaftLogNode;
import dev.evenkeel.settings.Setting;
import dev.evenkeel.storage.RocksShared;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What the limits in bytes of a node come to: a setting if there is one, or else a share of the
 * heap.
 *
 * @param heapBytes of this program
 * @param tailBytes newest batches, all data log groups together
 * @param logBytes newest bodies and places of entries, all log groups together
 * @param clientBytes requests of applications in flight, and as much once more for those that have
 *     not come whole
 * @param httpBytes bodies of HTTP requests
 * @param cleaningBytes messages of which the rest of the body goes
 * @param fetchBytes fetches that wait
 */
record NodeMemory(
    long heapBytes,
    long tailBytes,
    long logBytes,
    long clientBytes,
    long httpBytes,
    long cleaningBytes,
    long fetchBytes) {
  private static final Logger LOG = LoggerFactory.getLogger(NodeMemory.class);

  /** Buffers of the threads that read and rewrite segments. */
  private static final long SEGMENT_BUFFER_BYTES = 18L << 20;

  static NodeMemory of(NodeConfig config) {
    return of(config, HeapShares.ofThisProgram());
  }

  static NodeMemory of(NodeConfig config, HeapShares heap) {
    return new NodeMemory(
        heap.heapBytes(),
        or(config, NodeOptions.TAIL_CACHE_BYTES, heap.tailBytes()),
        heap.logBytes(),
        or(config, NodeOptions.CLIENT_BYTES_IN_FLIGHT_MAX, heap.clientBytes()),
        or(config, NodeOptions.HTTP_BYTES_IN_FLIGHT_MAX, heap.httpBytes()),
        heap.cleaningBytes(),
        heap.fetchBytes());
  }

  private static long or(NodeConfig config, Setting<Long> setting, long share) {
    long set = config.get(setting);
    return set == 0 ? share : set;
  }

  /** What all of it takes on the heap when every limit is reached. */
  long heapNeeded() {
    return HeapShares.BASE_BYTES
        + tailBytes
        + logBytes
        + 2 * clientBytes
        + HeapShares.HTTP_FACTOR * httpBytes
        + cleaningBytes
        + fetchBytes;
  }

  /** What is taken outside of the heap beside network buffers, classes and threads. */
  static long outsideNeeded(int logGroups) {
    return RocksShared.BLOCK_CACHE_BYTES_MAX
        + RocksShared.WRITE_BUFFER_BYTES_MAX
        + DirectAnswers.KEPT_BYTES_MAX
        + SEGMENT_BUFFER_BYTES
        + logGroups * RaftLogNode.GROUP_DIRECT_BYTES;
  }

  /** Logs what it adds up to. */
  void log(int logGroups) {
    LOG.info(
        "memory limits add up to {} MiB of a heap of {} MiB: libraries {}, tail cache {}, logs {},"
            + " applications 2 x {}, HTTP {}, cleaning {}, waiting fetches {}; outside of the heap {}"
            + " MiB, network buffers and classes not counted",
        mib(heapNeeded()),
        mib(heapBytes),
        mib(HeapShares.BASE_BYTES),
        mib(tailBytes),
        mib(logBytes),
        mib(clientBytes),
        mib(HeapShares.HTTP_FACTOR * httpBytes),
        mib(cleaningBytes),
        mib(fetchBytes),
        mib(outsideNeeded(logGroups)));
    if (heapNeeded() > heapBytes) {
      LOG.warn(
          "memory limits add up to {} MiB, and the heap has {} MiB: under load, this node can run"
              + " out of memory. Set -Xmx{}m, or lower {}, {} or {}",
          mib(heapNeeded()),
          mib(heapBytes),
          mib(heapNeeded()),
          NodeOptions.TAIL_CACHE_BYTES.key(),
          NodeOptions.CLIENT_BYTES_IN_FLIGHT_MAX.key(),
          NodeOptions.HTTP_BYTES_IN_FLIGHT_MAX.key());
    }
  }

  private static long mib(long bytes) {
    return bytes >> 20;
  }
}
