package dev.evenkeel.cli;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.stream.Stream;

/** Finds a data directory that cannot be used before the engines start in it; removes one. */
public final class DataDirectory {
  private static final String ADVICE = ": name a directory that this process may write, by --data";

  private DataDirectory() {}

  /**
   * Makes the directory if it is not there.
   *
   * @throws CommandFailure if it is no directory or cannot be written
   */
  static void check(Path directory) {
    if (Files.exists(directory) && !Files.isDirectory(directory)) {
      throw CommandFailure.failed("the data directory " + directory + " is a file" + ADVICE);
    }
    try {
      Files.createDirectories(directory);
    } catch (IOException e) {
      throw CommandFailure.failed("cannot make the data directory " + directory + ADVICE, e);
    }
    // Asked by doing it: permissions do not tell of a medium that is mounted read-only. A disk
    // that is full is another matter: an empty file still finds its place on most.
    try {
      Files.delete(Files.createTempFile(directory, ".write", ".check"));
    } catch (IOException e) {
      if (!Files.isWritable(directory)) {
        throw CommandFailure.failed(
            "the data directory " + directory + " cannot be written" + ADVICE, e);
      }
    }
  }

  /**
   * Removes a directory that was made for one run, with all that is in it, as far as that is
   * possible.
   *
   * @param directory null, or one that may be gone already: nothing happens
   */
  public static void remove(Path directory) {
    if (directory == null || !Files.exists(directory)) {
      return;
    }
    try (Stream<Path> files = Files.walk(directory)) {
      for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
        Files.deleteIfExists(file);
      }
    } catch (IOException | UncheckedIOException e) {
      System.err.println("evenkeel: cannot remove " + directory + ": " + e);
    }
  }
}
