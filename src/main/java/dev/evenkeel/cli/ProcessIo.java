package dev.evenkeel.cli;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * The disk writes of a process, from {@code /proc/PID/io} of Linux. The kernel counts a page when
 * the process changes it in memory, before the page reaches the disk; a page that is changed again
 * after it was written counts again. See {@code Documentation/filesystems/proc.rst} of the kernel.
 */
public final class ProcessIo {
  private ProcessIo() {}

  /**
   * Bytes that a process has written to disk since it started, without those that it took back by
   * deleting files; NaN if the system does not say.
   *
   * @param pid the id of a process of the same user, or {@code self}
   */
  public static double writtenBytes(String pid) {
    try {
      return parse(Files.readString(Path.of("/proc", pid, "io")));
    } catch (IOException e) {
      return Double.NaN;
    }
  }

  /** Parses the file, which has a line such as {@code write_bytes: 4096} for each figure. */
  static double parse(String io) {
    return figure(io, "write_bytes") - figure(io, "cancelled_write_bytes");
  }

  private static double figure(String io, String name) {
    String begin = name + ":";
    return io.lines()
        .filter(line -> line.startsWith(begin))
        .mapToDouble(line -> Double.parseDouble(line.substring(begin.length())))
        .findFirst()
        .orElse(Double.NaN);
  }
}
