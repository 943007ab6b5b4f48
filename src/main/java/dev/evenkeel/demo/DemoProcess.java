package dev.evenkeel.demo;

import dev.evenkeel.cli.ChildProcess;
import dev.evenkeel.cli.CommandFailure;
import dev.evenkeel.cli.OwnProgram;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.BiConsumer;

/** One consumer of the demo: this program again, in a process of its own. */
final class DemoProcess {
  /** What a client needs, in as little memory as it gets along with. */
  private static final List<String> SMALL =
      List.of(
          "-Xmx96m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-XX:ActiveProcessorCount=1");

  private final String name;
  private final ChildProcess process;
  private final CountDownLatch joinedOrEnded = new CountDownLatch(1);
  private volatile boolean joined;
  private volatile String lastError = "it ended without a word";

  /**
   * Starts it.
   *
   * @param arrivals takes each shard that comes to it, and how far the shard's count is
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

  /** With what this JVM was given to reach into Java, and settings of ours. */
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

  long pid() {
    return process.pid();
  }

  boolean isAlive() {
    return process.isAlive();
  }

  /** What it said last on standard error. */
  String lastError() {
    return lastError;
  }

  /** Whether it joined within the time, and did not end before. */
  boolean awaitJoined(long millisMax) throws InterruptedException {
    return joinedOrEnded.await(millisMax, TimeUnit.MILLISECONDS) && joined;
  }

  boolean awaitEnd(long millisMax) throws InterruptedException {
    return process.awaitEnd(millisMax);
  }

  /** Ends its input, which tells it to leave in good order; kills it if it has not come yet. */
  void askToLeave() {
    if (!joined) {
      process.kill();
    }
    process.closeInput();
  }

  /** SIGKILL, or what the system has for it. */
  void kill() {
    process.kill();
  }
}
