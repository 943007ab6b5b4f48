package dev.evenkeel.cluster;

import dev.evenkeel.TestPorts;
import dev.evenkeel.dedup.Answer;
import dev.evenkeel.dedup.ClusteredCoordinator;
import dev.evenkeel.dedup.DedupKey;
import dev.evenkeel.dedup.Worker;
import java.io.IOException;
import java.lang.ProcessBuilder.Redirect;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.LongAdder;

/**
 * Decisions a second of the clustered form: one node in a process of its own, and a client here
 * that keeps a bounded number of requests in flight. A decision is an enQueue that was answered;
 * each one that is accepted is given back at once, so there are about twice as many steps.
 *
 * <p>System properties: {@code bench.seconds} of each round, {@code bench.rounds}, {@code
 * bench.inFlight}.
 */
public final class SharedDedup {
  private static final int[] IN_FLIGHT =
      Arrays.stream(System.getProperty("bench.inFlight", "1,64,512").split(","))
          .mapToInt(Integer::parseInt)
          .toArray();
  private static final int HOT_KEYS = 500;

  private SharedDedup() {}

  public static void main(String[] args) throws Exception {
    if (args.length == 1) {
      ClusterMembers.node(NodeSettings.lone(Integer.parseInt(args[0])))
          .onSuccess(node -> System.out.println("ready"))
          .onFailure(failure -> System.exit(1));
      return;
    }
    int port = TestPorts.take(4);
    Process node = startNode(port);
    try {
      ClusterMember client = LiteMember.join(port).toCompletionStage().toCompletableFuture().join();
      measure(client, node);
      client.close().toCompletionStage().toCompletableFuture().join();
    } finally {
      node.destroyForcibly();
    }
  }

  private static Process startNode(int port) throws IOException {
    Process node =
        new ProcessBuilder(
                List.of(
                    "java",
                    "-Xmx512m",
                    "-cp",
                    System.getProperty("java.class.path"),
                    SharedDedup.class.getName(),
                    String.valueOf(port)))
            .redirectError(Redirect.DISCARD)
            .start();
    String line;
    do {
      line = node.inputReader().readLine();
    } while (line != null && !line.equals("ready"));
    if (line == null) {
      throw new IOException("the node did not start");
    }
    return node;
  }

  private static void measure(ClusterMember client, Process node) throws InterruptedException {
    long seconds = Long.getLong("bench.seconds", 3);
    System.out.println("keys     in flight   decisions/s      steps/s   CPU µs/step here, node");
    for (int round = 0; round < Integer.getInteger("bench.rounds", 3); round++) {
      for (int inFlight : IN_FLIGHT) {
        for (boolean hot : new boolean[] {false, true}) {
          ClusteredCoordinator coordinator =
              new ClusteredCoordinator(
                  client.dedup(), ClusteredCoordinator.Settings.of(60_000), millis());
          long here = cpuNanos(ProcessHandle.current());
          long there = cpuNanos(node.toHandle());
          long[] counts = run(coordinator, inFlight, hot, seconds);
          System.out.printf(
              "%-8s %9d %,13d %,12d %10d %10d%n",
              hot ? "hot" : "unique",
              inFlight,
              counts[0] / seconds,
              counts[1] / seconds,
              (cpuNanos(ProcessHandle.current()) - here) / 1_000 / counts[1],
              (cpuNanos(node.toHandle()) - there) / 1_000 / counts[1]);
          coordinator.close(millis());
        }
      }
    }
  }

  /** Decisions and steps. */
  private static long[] run(
      ClusteredCoordinator coordinator, int inFlight, boolean hot, long seconds)
      throws InterruptedException {
    Semaphore free = new Semaphore(inFlight);
    LongAdder decisions = new LongAdder();
    LongAdder steps = new LongAdder();
    Worker worker = new Worker("bench", 0, 0);
    long end = System.nanoTime() + seconds * 1_000_000_000;
    long number = 0;
    while (System.nanoTime() < end) {
      free.acquire();
      long key = hot ? number++ * number % HOT_KEYS : number++;
      var ticket =
          coordinator.enQueue(new DedupKey(key * 0x9e3779b97f4a7c15L, key), worker, millis());
      ticket
          .turn()
          .whenComplete(
              (turn, failure) -> {
                decisions.increment();
                steps.increment();
                if (turn != Answer.ACCEPT) {
                  free.release();
                  return;
                }
                coordinator
                    .deQueue(ticket, millis())
                    .whenComplete(
                        (left, failed) -> {
                          steps.increment();
                          free.release();
                        });
              });
    }
    free.acquire(inFlight);
    return new long[] {decisions.sum(), steps.sum()};
  }

  private static long cpuNanos(ProcessHandle process) {
    return process.info().totalCpuDuration().map(Duration::toNanos).orElse(0L);
  }

  private static long millis() {
    return System.nanoTime() / 1_000_000;
  }
}
