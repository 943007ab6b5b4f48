package dev.evenkeel.demo;

import dev.evenkeel.cli.CommandFailure;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;

/** The processes of the demo's consumers. Methods block for as long as they say. */
final class DemoMembers {
  /** Joining means starting a JVM, too, perhaps on a busy machine. */
  private static final long JOIN_MILLIS_MAX = 60_000;

  private static final long LEAVE_MILLIS_MAX = 8_000;
  private static final long CLOSE_MILLIS_MAX = 6_000;

  private final String cluster;
  private final Map<String, DemoProcess> running = new TreeMap<>();
  private final Map<Integer, Long> arrived = new ConcurrentHashMap<>();
  private int started;
  private boolean closed;

  /**
   * @param cluster HOST:PORT of the node
   */
  DemoMembers(String cluster) {
    this.cluster = cluster;
  }

  /** Starts one more. It has not joined yet. */
  synchronized DemoProcess start() {
    if (closed) {
      throw CommandFailure.failed("the demo has ended");
    }
    String name = "c" + ++started;
    DemoProcess process = new DemoProcess(name, cluster, arrived::put);
    running.put(name, process);
    return process;
  }

  /**
   * Waits until it has joined, for a minute at most.
   *
   * @throws CommandFailure if it cannot
   */
  void awaitJoined(DemoProcess process) throws InterruptedException {
    if (!process.awaitJoined(JOIN_MILLIS_MAX)) {
      throw CommandFailure.failed(
          "consumer " + process.name() + " could not join the demo: " + process.lastError());
    }
  }

  /** Lets it leave in good order, and waits for its end. */
  void leave(DemoProcess process) throws InterruptedException {
    process.askToLeave();
    if (!process.awaitEnd(LEAVE_MILLIS_MAX)) {
      process.kill();
    }
    forget(process);
  }

  void kill(DemoProcess process) throws InterruptedException {
    process.kill();
    process.awaitEnd(LEAVE_MILLIS_MAX);
    forget(process);
  }

  synchronized void forget(DemoProcess process) {
    running.remove(process.name());
  }

  /** All that were started and not ended by the demo, by name; some may have ended otherwise. */
  synchronized List<DemoProcess> all() {
    return List.copyOf(running.values());
  }

  /** How far the count of each shard was that came to a consumer since the last call. */
  Map<Integer, Long> takeArrived() {
    Map<Integer, Long> taken = Map.copyOf(arrived);
    arrived.keySet().removeAll(taken.keySet());
    return taken;
  }

  /** Ends all within six seconds, in good order as far as that is possible. */
  void close() {
    List<DemoProcess> all;
    synchronized (this) {
      closed = true;
      all = new ArrayList<>(running.values());
    }
    all.forEach(DemoProcess::askToLeave);
    long deadline = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(CLOSE_MILLIS_MAX);
    try {
      for (DemoProcess process : all) {
        process.awaitEnd(TimeUnit.NANOSECONDS.toMillis(deadline - System.nanoTime()));
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } finally {
      all.forEach(DemoProcess::kill);
    }
  }
}
