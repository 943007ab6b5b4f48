package dev.evenkeel.log.raft;

import dev.evenkeel.log.LogGroup;
import dev.evenkeel.log.LogSettings;
import dev.evenkeel.util.files.DurableFiles;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * How much one node appends with 1, 2, 3 and 4 data groups at the same total load: entries of 64
 * KiB to all groups in turn, a fixed number in flight, each applied to a RocksDB state. Not a test;
 * run it by hand: {@code GroupCountBench DIRECTORY [inFlight] [megabytes]}.
 */
final class GroupCountBench {
  private static final int ENTRY_BYTES = 64 << 10;

  private GroupCountBench() {}

  public static void main(String[] args) throws Exception {
    Path home = Path.of(args[0]);
    int inFlight = args.length > 1 ? Integer.parseInt(args[1]) : 32;
    int entries = (args.length > 2 ? Integer.parseInt(args[2]) : 1024) * 16;
    System.out.printf("%d in flight, %d MiB a run%n", inFlight, entries / 16);
    System.out.println(
        "groups  round  start ms   MB/s   p50 ms   p99 ms  CPU s/GiB  close ms  threads");
    for (int round = 0; round < 3; round++) {
      for (int groups = 1; groups <= 4; groups++) {
        run(home, groups, round, inFlight, entries);
      }
    }
  }

  private static void run(Path home, int groups, int round, int inFlight, int entries)
      throws Exception {
    DurableFiles.deleteTree(home);
    Files.createDirectories(home);
    List<LogSettings.Peer> peers = List.of(TestNode.peer("a", TestNode.freePort()));
    long before = System.nanoTime();
    LogSettings settings =
        new LogSettings("a", home.resolve("log"), peers, groups, 10_000, 512L << 20, 1 << 30);
    TestNode node = new TestNode(settings, TestNode.live(home)).awaitReady();
    long startMillis = (System.nanoTime() - before) / 1_000_000;
    load(node, inFlight, 2_000);
    long begin = System.nanoTime();
    Duration cpuBefore = cpu();
    long[] nanos = load(node, inFlight, entries);
    double seconds = (System.nanoTime() - begin) / 1e9;
    // Processor time tells the groups apart also on a machine that others use.
    double cpuSeconds = cpu().minus(cpuBefore).toMillis() / 1e3;
    int threads = Thread.activeCount();
    Arrays.sort(nanos);
    long closing = System.nanoTime();
    node.close();
    System.out.printf(
        Locale.ROOT,
        "%6d  %5d  %8d  %5.0f  %7.2f  %7.2f  %10.2f  %8d  %7d%n",
        groups,
        round,
        startMillis,
        (double) entries * ENTRY_BYTES / seconds / 1e6,
        nanos[nanos.length / 2] / 1e6,
        nanos[(int) (nanos.length * 0.99)] / 1e6,
        cpuSeconds / (entries * (double) ENTRY_BYTES / (1 << 30)),
        (System.nanoTime() - closing) / 1_000_000,
        threads);
    DurableFiles.deleteTree(home);
  }

  private static Duration cpu() {
    return ProcessHandle.current().info().totalCpuDuration().orElse(Duration.ZERO);
  }

  private static long[] load(TestNode node, int inFlight, int entries) throws InterruptedException {
    List<LogGroup> groups = node.node.data();
    ByteBuffer head = ByteBuffer.wrap(new byte[] {RocksState.WITH_BODY});
    ByteBuffer entry = ByteBuffer.allocate(ENTRY_BYTES);
    new java.util.Random(1).nextBytes(entry.array());
    long[] nanos = new long[entries];
    Semaphore room = new Semaphore(inFlight);
    AtomicInteger failures = new AtomicInteger();
    for (int i = 0; i < entries; i++) {
      room.acquire();
      int number = i;
      long sent = System.nanoTime();
      groups
          .get(i % groups.size())
          .append(head, List.of(entry))
          .whenComplete(
              (reply, failure) -> {
                nanos[number] = System.nanoTime() - sent;
                if (failure != null) {
                  failures.incrementAndGet();
                }
                room.release();
              });
    }
    room.acquire(inFlight);
    if (failures.get() > 0) {
      throw new IllegalStateException(failures + " appends failed");
    }
    return nanos;
  }
}
