package dev.evenkeel.demo;

import dev.evenkeel.cli.CommandFailure;
import dev.evenkeel.cli.OwnProgram;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/** One consumer of the demo: this program again, in a process of its own. */
final class DemoProcess {
  /** What a client needs, in as little memory as it gets along with. */
  private static final List<String> SMALL =
      List.of(
          "-Xmx96m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-XX:ActiveProcessorCount=1");

  /** Hears {@code arrived SHARD COUNT}. */
  @FunctionalInterface
  interface Arrivals {
    void arrived(int shard, long count);
  }

  private final String name;
  private final Process process;
  private final CountDownLatch joinedOrEnded = new CountDownLatch(1);
  private volatile boolean joined;
  private volatile String lastError = "it ended without a word";

  private DemoProcess(String name, Process process) {
    this.name = name;
    this.process = process;
  }

  /**
   * @throws CommandFailure if no process can be started
   */
  static DemoProcess start(String name, String cluster, Arrivals arrivals) {
    List<String> command = new ArrayList<>(OwnProgram.command(jvmOptions()));
    command.addAll(List.of("demo-member", name, "--cluster", cluster));
    try {
      Process process = new ProcessBuilder(command).start();
      DemoProcess started = new DemoProcess(name, process);
      onThread(name + "-out", () -> started.readOut(process.getInputStream(), arrivals));
      onThread(name + "-err", () -> started.readError(process.getErrorStream()));
      return started;
    } catch (IOException e) {
      throw CommandFailure.failed("cannot start a consumer: " + e.getMessage(), e);
    }
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

  private static void onThread(String name, Runnable task) {
    Thread thread = new Thread(task, "evenkeel-demo-" + name);
    thread.setDaemon(true);
    thread.start();
  }

  private void readOut(InputStream in, Arrivals arrivals) {
    try (BufferedReader lines = reader(in)) {
      for (String line = lines.readLine(); line != null; line = lines.readLine()) {
        String[] words = line.split(" ");
        if (words[0].equals("joined")) {
          joined = true;
          joinedOrEnded.countDown();
        } else if (words.length == 3 && words[0].equals("arrived")) {
          arrivals.arrived(Integer.parseInt(words[1]), Long.parseLong(words[2]));
        }
      }
    } catch (IOException e) {
      // It was killed.
    } finally {
      joinedOrEnded.countDown();
    }
  }

  private void readError(InputStream in) {
    try (BufferedReader lines = reader(in)) {
      for (String line = lines.readLine(); line != null; line = lines.readLine()) {
        lastError = line;
      }
    } catch (IOException e) {
      // It was killed.
    }
  }

  private static BufferedReader reader(InputStream in) {
    return new BufferedReader(new InputStreamReader(in, StandardCharsets.UTF_8));
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
    return process.waitFor(Math.max(0, millisMax), TimeUnit.MILLISECONDS);
  }

  /** Ends its input, which tells it to leave in good order; kills it if it has not come yet. */
  void askToLeave() {
    if (!joined) {
      process.destroyForcibly();
    }
    try {
      process.getOutputStream().close();
    } catch (IOException e) {
      // It has ended already.
    }
  }

  /** SIGKILL, or what the system has for it. */
  void kill() {
    process.destroyForcibly();
  }
}
