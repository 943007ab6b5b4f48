package dev.evenkeel.cli;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** What of this process is in RAM, where the system has a file that tells. */
final class ResidentMemory {
  private static final Path STATUS = Path.of("/proc/self/status");

  private ResidentMemory() {}

  static boolean known() {
    return Files.isReadable(STATUS);
  }

  /** Bytes, or NaN if that cannot be read. */
  static double bytes() {
    try {
      return parse(Files.readString(STATUS));
    } catch (IOException e) {
      return Double.NaN;
    }
  }

  /** Of the line {@code VmRSS: 12345 kB}. */
  static double parse(String status) {
    return status
        .lines()
        .filter(line -> line.startsWith("VmRSS:"))
        .mapToDouble(line -> 1024.0 * Long.parseLong(line.replaceAll("\\D", "")))
        .findFirst()
        .orElse(Double.NaN);
  }
}
