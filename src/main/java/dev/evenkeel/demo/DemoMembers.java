package dev.evenkeel.demo;

import dev.evenkeel.cli.ChildProcess;
import dev.evenkeel.cli.CommandFailure;
import dev.evenkeel.cli.OwnProgram;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.BiConsumer;

/** Starts and ends the consumer processes of the demo. Methods that wait block. */
final class DemoMembers {
  /** This includes the start of a JVM, perhaps on a busy machine. */
  private static final long JOIN_MILLIS_MAX = 60_000;

  private static final long LEAVE_MILLIS_MAX = 8_000;
  private static final long CLOSE_MILLIS_MAX = 6_000;

  /** One consumer process, which runs this program again. */
  static final class DemoProcess {
    /** JVM options that keep a consumer small. */
    private static final List<String> SMALL =
        List.of(
            "-Xmx96m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-XX:ActiveProcessorCount=1");

    private final String name;
    private final ChildProcess process;
    private final CountDownLatch joinedOrEnded = new CountDownLatch(1);
    private volatile boolean joined;
    private volatile String lastError;

    /**
     * Starts the process.
     *
     * @param arrivals gets each shard that the consumer gets, with the shard's count
     * @throws CommandFailure if no process can be started
     */
    DemoProcess(String name, String cluster, BiConsumer<Integer, Long> arrivals) {
      this.name = name;
      List<String> command = new ArrayList<>(OwnProgram.command(jvmOptions()));
      command.addAll(List.of("demo-member", name, "--cluster", cluster));
      process =
          ChildProcess.start(
              "consumer " + name,
              command,
              ProcessBuilder.Redirect.PIPE,
              line -> take(line, arrivals));
      process.readErrors(line -> lastError = line);
    }

    /** Passes on this JVM's options about modules, and Evenkeel's system properties. */
    private static List<String> jvmOptions() {
      List<String> options = new ArrayList<>(SMALL);
      for (String argument : ManagementFactory.getRuntimeMXBean().getInputArguments()) {
        if (argument.startsWith("--add-") || argument.startsWith("-Devenkeel.")) {
          options.add(argument);
        }
      }
      return options;
    }

    private void take(String line, BiConsumer<Integer, Long> arrivals) {
      if (line == null) {
        joinedOrEnded.countDown();
        return;
      }
      String[] words = line.split(" ");
      if (words[0].equals("joined")) {
        joined = true;
        joinedOrEnded.countDown();
      } else if (words.length == 3 && words[0].equals("arrived")) {
        arrivals.accept(Integer.parseInt(words[1]), Long.parseLong(words[2]));
      }
    }

    String name() {
      return name;
    }

    ChildProcess process() {
      return process;
    }

    private boolean awaitJoined(long millisMax) throws InterruptedException {
      return joinedOrEnded.await(millisMax, TimeUnit.MILLISECONDS) && joined;
    }

    /** Why it has not joined. */
    private String trouble() {
      String told = lastError;
      if (joinedOrEnded.getCount() == 0) {
        return told == null ? "it ended without an error message" : told;
      }
      String late = "it has not joined within " + JOIN_MILLIS_MAX / 1_000 + " s";
      return told == null ? late + ": this machine may be too busy, try again" : late + ": " + told;
    }

    /** Asks it to leave cleanly by closing its input; kills it if it has not joined yet. */
    private void askToLeave() {
      if (!joined) {
        process.kill();
      }
      process.closeInput();
    }
  }

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

  /** Starts one more consumer; does not wait until it has joined. */
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
   * Waits until a consumer has joined, for a minute at most.
   *
   * @throws CommandFailure if it cannot
   */
  void awaitJoined(DemoProcess process) throws InterruptedException {
    if (!process.awaitJoined(JOIN_MILLIS_MAX)) {
      throw CommandFailure.failed(
          "consumer " + process.name() + " could not join the demo: " + process.trouble());
    }
  }

  /** Lets a consumer leave cleanly, and waits for its end. */
  void leave(DemoProcess process) throws InterruptedException {
    process.askToLeave();
    if (!process.process().awaitEnd(LEAVE_MILLIS_MAX)) {
      process.process().kill();
    }
    forget(process);
  }

  void kill(DemoProcess process) throws InterruptedException {
    process.process().kill();
    process.process().awaitEnd(LEAVE_MILLIS_MAX);
    forget(process);
  }

  synchronized void forget(DemoProcess process) {
    running.remove(process.name());
  }

  /** All consumers that the demo has started and not ended; others may have killed some. */
  synchronized List<DemoProcess> all() {
    return List.copyOf(running.values());
  }

  /** The counts of the shards that have moved to a consumer since the last call. */
  Map<Integer, Long> takeArrived() {
    Map<Integer, Long> taken = Map.copyOf(arrived);
    arrived.keySet().removeAll(taken.keySet());
    return taken;
  }

  /** Ends all consumers, cleanly if they leave within six seconds. */
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
        process.process().awaitEnd(TimeUnit.NANOSECONDS.toMillis(deadline - System.nanoTime()));
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } finally {
      all.forEach(each -> each.process().kill());
    }
  }
}
