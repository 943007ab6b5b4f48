package dev.evenkeel.broker.node;

import dev.evenkeel.broker.machine.BodyUse;

/**
 * How a node shares out its heap: what limits in bytes come to unless they are set. All of them
 * together, when each is reached, leave a part of the heap free.
 *
 * @param heapBytes all of it
 */
public record HeapShares(long heapBytes) {
  /** What an idle node takes: the classes and caches of the libraries. */
  public static final long BASE_BYTES = 64L << 20;

  /** A body of an HTTP request takes several times its length while it is parsed. */
  public static final int HTTP_FACTOR = 5;

  private static final long MIB = 1L << 20;

  /** Of the heap of this program. */
  public static HeapShares ofThisProgram() {
    return new HeapShares(Runtime.getRuntime().maxMemory());
  }

  private long part(int divisor, long minMib, long maxMib) {
    long part = Math.max(0, heapBytes - BASE_BYTES) / divisor;
    long mib = Math.max(minMib, Math.min(maxMib, part / MIB));
    return mib * MIB;
  }

  /**
   * Newest batches of all data log groups. With more, a node appends fewer messages: what stays for
   * longer than a young collection is copied by it.
   */
  public long tailBytes() {
    return part(16, 4, 64);
  }

  /** Newest bodies and places of entries, of all log groups. */
  public long logBytes() {
    return part(4, 16, 1_024);
  }

  /**
   * Appends of one log group that are not answered yet. They are not added up: they are the
   * requests of applications.
   */
  public long appendBytes(int dataGroups) {
    return part(8 * Math.max(1, dataGroups), 4, 32);
  }

  /** Requests of applications in flight; those that have not come whole take as much once more. */
  public long clientBytes() {
    return part(6, 8, 256);
  }

  /**
   * Messages of retries and dead letters that keep only a part of their bodies, while it is made.
   */
  public long cleaningBytes() {
    return part(32, 4, 64);
  }

  /** How many of them in one log group; all log groups may wait for the same thread. */
  public int cleanedMessages(int dataGroups) {
    return (int) (cleaningBytes() / Math.max(1, dataGroups) / BodyUse.MESSAGE_BYTES);
  }

  /** Fetches that wait for messages, with their filters. A small heap has little room for them. */
  public long fetchBytes() {
    return new HeapShares(heapBytes - 96 * MIB).part(24, 1, 512);
  }

  /** Bodies of HTTP requests. */
  public long httpBytes() {
    return part(25, 8, 32);
  }
}
