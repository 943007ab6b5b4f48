package dev.evenkeel.bench;

import dev.evenkeel.cli.ChildProcess;
import dev.evenkeel.cli.CommandFailure;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.BiConsumer;

/** A consumer under measurement, in a process of its own. */
record MemberProcess(String name, ChildProcess process) {
  private static final long END_SECONDS_MAX = 60;

  /**
   * @param errors where its standard error goes
   * @param handled told of each message, with the member's name, on a thread of the member
   */
  static MemberProcess start(
      String name, List<String> command, Path errors, BiConsumer<String, HandledLine> handled) {
    ChildProcess process =
        ChildProcess.start(
            "consumer " + name,
            command,
            ProcessBuilder.Redirect.appendTo(errors.toFile()),
            line -> {
              HandledLine each = line == null ? null : HandledLine.parse(line);
              if (each != null) {
                handled.accept(name, each);
              }
            });
    process.closeInput();
    return new MemberProcess(name, process);
  }

  /** SIGSTOP: it vanishes, and nothing of it is closed. */
  void freeze() throws InterruptedException {
    try {
      Process kill =
          new ProcessBuilder("kill", "-STOP", String.valueOf(process.pid())).inheritIO().start();
      if (kill.waitFor() != 0) {
        throw CommandFailure.failed("a consumer cannot be held: kill -STOP failed");
      }
    } catch (IOException e) {
      throw CommandFailure.failed("a consumer cannot be held: " + e.getMessage(), e);
    }
  }

  /** Waits until it has ended and all that it told was taken; kills it after a minute. */
  void awaitEnd() throws InterruptedException {
    long millisMax = TimeUnit.SECONDS.toMillis(END_SECONDS_MAX);
    if (!process.awaitEnd(millisMax)) {
      process.kill();
      process.awaitEnd(millisMax);
    }
  }
}
