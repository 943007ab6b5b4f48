package dev.evenkeel.cli;

import dev.evenkeel.util.files.DurableFiles;
import dev.evenkeel.util.files.PrivateFiles;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;

/** Checks that a data directory can be used, before the engines start in it; removes one. */
public final class DataDirectory {
  private static final String ADVICE = ": name a directory that this process may write, by --data";

  private DataDirectory() {}

  /**
   * Creates the directory if it is missing.
   *
   * @throws CommandFailure if it is no directory or cannot be written
   */
  static void check(Path directory) {
    if (Files.exists(directory) && !Files.isDirectory(directory)) {
      throw CommandFailure.failed("the data directory " + directory + " is a file" + ADVICE);
    }
    try {
      PrivateFiles.createDirectories(directory);
    } catch (IOException e) {
      throw CommandFailure.failed("cannot make the data directory " + directory + ADVICE, e);
    }
    closeToOthers(directory);
    // Permissions do not show that a disk is mounted read-only, so this writes a file. It is empty,
    // so that a full disk passes.
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
   * Makes what an earlier version left open to everybody private. The directory itself stays as it
   * is: whoever made it may have a reason.
   */
  private static void closeToOthers(Path directory) {
    try {
      for (Path part : DurableFiles.list(directory)) {
        if (Files.isDirectory(part, LinkOption.NOFOLLOW_LINKS)) {
          PrivateFiles.close(part);
        }
      }
    } catch (IOException e) {
      System.err.println(
          "evenkeel: cannot make the directories in " + directory + " private: " + e.getMessage());
    }
  }

  /**
   * Removes a directory of one run with all its files, as far as possible.
   *
   * @param directory may be null or missing
   */
  public static void remove(Path directory) {
    if (directory == null) {
      return;
    }
    try {
      DurableFiles.deleteTree(directory);
    } catch (IOException | UncheckedIOException e) {
      System.err.println("evenkeel: cannot remove " + directory + ": " + e);
    }
  }
}
