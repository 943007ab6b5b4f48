package dev.evenkeel.bench;

import dev.evenkeel.cli.CommandFailure;
import java.io.BufferedReader;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.BiConsumer;

/** A consumer under measurement, in a process of its own. */
final class MemberProcess {
  private static final long END_SECONDS_MAX = 60;

  private final String name;
  private final Process process;
  private final Thread reader;

  private MemberProcess(String name, Process process, BiConsumer<String, HandledLine> handled) {
    this.name = name;
    this.process = process;
    reader = new Thread(() -> read(handled), "bench-member-" + name);
    reader.setDaemon(true);
    reader.start();
  }

  /**
   * @param errors where its standard error goes
   * @param handled told of each message, with the member's name, on a thread of the member
   */
  static MemberProcess start(
      String name, List<String> command, Path errors, BiConsumer<String, HandledLine> handled) {
    try {
      ProcessBuilder builder =
          new ProcessBuilder(command)
              .redirectError(ProcessBuilder.Redirect.appendTo(errors.toFile()));
      builder.environment().keySet().removeIf(key -> key.startsWith("EVENKEEL_"));
      Process process = builder.start();
      process.getOutputStream().close();
      return new MemberProcess(name, process, handled);
    } catch (IOException e) {
      throw CommandFailure.failed("cannot start a consumer: " + e.getMessage(), e);
    }
  }

  String name() {
    return name;
  }

  private void read(BiConsumer<String, HandledLine> handled) {
    try (BufferedReader lines = process.inputReader(StandardCharsets.ISO_8859_1)) {
      String line;
      while ((line = lines.readLine()) != null) {
        HandledLine each = HandledLine.parse(line);
        if (each != null) {
          handled.accept(name, each);
        }
      }
    } catch (IOException e) {
      // It was killed: what came before counts.
      return;
    }
  }

  /** SIGTERM: it leaves in good order. Returns at once. */
  void leave() {
    process.destroy();
  }

  /** SIGKILL. Returns at once. */
  void kill() {
    process.destroyForcibly();
  }

  /** SIGSTOP: it vanishes, and nothing of it is closed. */
  void freeze() {
    try {
      Process kill =
          new ProcessBuilder("kill", "-STOP", String.valueOf(process.pid())).inheritIO().start();
      if (kill.waitFor() != 0) {
        throw CommandFailure.failed("a consumer cannot be held: kill -STOP failed");
      }
    } catch (IOException e) {
      throw CommandFailure.failed("a consumer cannot be held: " + e.getMessage(), e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  /** Waits until it has ended and all that it told was taken; kills it after a minute. */
  void awaitEnd() throws InterruptedException {
    if (!process.waitFor(END_SECONDS_MAX, TimeUnit.SECONDS)) {
      process.destroyForcibly();
      process.waitFor();
    }
    reader.join(TimeUnit.SECONDS.toMillis(END_SECONDS_MAX));
  }
}
