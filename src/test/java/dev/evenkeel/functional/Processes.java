package dev.evenkeel.functional;

import dev.evenkeel.Wait;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;

/** Processes that others have started. */
final class Processes {
  private Processes() {}

  /**
   * Waits until it has ended. Nobody may be there to reap it then.
   *
   * @param process null: it had ended before anybody looked
   */
  static void awaitEnd(ProcessHandle process) {
    Wait.until("nothing outlives it", () -> process == null || !runs(process));
  }

  /** What is dead and only waits for somebody to reap it counts as alive to Java. */
  private static boolean runs(ProcessHandle process) throws IOException {
    if (!process.isAlive()) {
      return false;
    }
    try {
      // PID (NAME) STATE ...
      String stat = Files.readString(Path.of("/proc", String.valueOf(process.pid()), "stat"));
      return stat.charAt(stat.lastIndexOf(')') + 2) != 'Z';
    } catch (NoSuchFileException e) {
      // It has ended meanwhile, or this is another system.
      return process.isAlive();
    }
  }
}
