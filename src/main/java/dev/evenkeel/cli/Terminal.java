package dev.evenkeel.cli;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** Whether somebody looks. */
final class Terminal {
  private Terminal() {}

  /** Whether standard error is a terminal. */
  static boolean isStandardError() {
    Path link = Path.of("/proc/self/fd/2");
    if (!Files.isSymbolicLink(link)) {
      // Java itself can tell of standard input and output together only.
      return System.console() != null;
    }
    try {
      String target = Files.readSymbolicLink(link).toString();
      return target.startsWith("/dev/pts/") || target.startsWith("/dev/tty");
    } catch (IOException e) {
      return false;
    }
  }
}
