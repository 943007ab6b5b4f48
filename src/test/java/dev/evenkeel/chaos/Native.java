package dev.evenkeel.chaos;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.Objects;
import java.util.Optional;

/**
 * Programs of the tests in C, compiled on the machine that runs them.
 *
 * @param delay delays packets: see delay.c
 * @param faults a library to be loaded before others: see faults.c
 */
record Native(Path delay, Path faults) {

  /** Why they cannot be had here. */
  static Optional<String> obstacle() {
    if (!Commands.exists("gcc")) {
      return Optional.of("there is no gcc");
    }
    return Files.exists(Path.of("/dev/net/tun"))
        ? Optional.empty()
        : Optional.of("there is no /dev/net/tun");
  }

  static Native compile(Path directory) {
    try {
      Files.createDirectories(directory);
      Path delay = directory.resolve("delay");
      build(directory, "delay.c", "gcc -O2 -Wall -o " + delay);
      Path faults = directory.resolve("faults.so");
      build(directory, "faults.c", "gcc -O2 -Wall -shared -fPIC -o " + faults);
      return new Native(delay, faults);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static void build(Path directory, String source, String command) throws IOException {
    Path copy = directory.resolve(source);
    try (InputStream in = Native.class.getResourceAsStream("/chaos/" + source)) {
      Files.copy(Objects.requireNonNull(in, source), copy, StandardCopyOption.REPLACE_EXISTING);
    }
    Commands.run(command + " " + copy + " -ldl -lpthread");
  }
}
