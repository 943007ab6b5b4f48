package dev.evenkeel.functional;

import java.util.stream.Collectors;

/** What a program had to say on its standard error. */
final class Stderr {
  private Stderr() {}

  /**
   * Without what Vert.x tells of a thread that did not come back to it in time: on a busy machine
   * one may only have waited for a processor. {@link Jar.Running} judges that.
   */
  static String said(Jar.Result result) {
    return result
        .err()
        .lines()
        .filter(line -> !line.contains("has been blocked for"))
        .filter(line -> !line.startsWith("io.vertx.core.VertxException: Thread blocked"))
        .filter(line -> !line.startsWith("\tat "))
        .collect(Collectors.joining("\n"))
        .strip();
  }
}
