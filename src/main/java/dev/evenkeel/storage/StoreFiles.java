package dev.evenkeel.storage;

import java.io.File;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Stream;

/** Work on the files of stores that are not open. */
public final class StoreFiles {
  private StoreFiles() {}

  /**
   * Puts a copy of a checkpoint in the place of a closed store. The checkpoint's files stay
   * untouched: those that the engine never changes are linked, the others copied. If it fails half
   * way, the old store is gone or whole, and a call can be repeated.
   *
   * @throws IOException if the checkpoint is not one, or cannot be copied
   */
  public static void replace(Path directory, Path checkpoint) throws IOException {
    if (!Files.exists(checkpoint.resolve("CURRENT"))) {
      throw new IOException(checkpoint + " is not a checkpoint of a store: it has no file CURRENT");
    }
    Path target = directory.toAbsolutePath();
    Path staged = target.resolveSibling(target.getFileName() + ".restoring");
    delete(staged);
    Files.createDirectories(staged);
    for (Path file : list(checkpoint)) {
      String name = file.getFileName().toString();
      Path copy = staged.resolve(name);
      if (name.endsWith(".sst") || name.endsWith(".blob")) {
        link(file, copy);
      } else {
        Files.copy(file, copy);
        force(copy, StandardOpenOption.WRITE);
      }
    }
    forceDirectory(staged);
    delete(target);
    Files.move(staged, target, StandardCopyOption.ATOMIC_MOVE);
    forceDirectory(target.getParent());
  }

  /** Deletes a directory and everything in it, if it exists. */
  public static void delete(Path directory) throws IOException {
    if (!Files.exists(directory)) {
      return;
    }
    try (Stream<Path> files = Files.walk(directory)) {
      for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
        Files.deleteIfExists(file);
      }
    }
  }

  /** Links a file that never changes, or copies it and flushes the copy. */
  public static void link(Path file, Path copy) throws IOException {
    try {
      Files.createLink(copy, file);
    } catch (IOException | UnsupportedOperationException e) {
      // Another file system, or one without links: a copy takes longer and is as good.
      Files.copy(file, copy, StandardCopyOption.REPLACE_EXISTING);
      force(copy, StandardOpenOption.WRITE);
    }
  }

  /** Makes the names in a directory survive a crash of the machine. */
  public static void forceDirectory(Path directory) throws IOException {
    // On Windows a directory cannot be opened, and a rename is durable by itself.
    if (File.separatorChar == '/') {
      force(directory, StandardOpenOption.READ);
    }
  }

  private static void force(Path path, StandardOpenOption how) throws IOException {
    try (FileChannel channel = FileChannel.open(path, how)) {
      channel.force(true);
    }
  }

  private static List<Path> list(Path directory) throws IOException {
    try (Stream<Path> files = Files.list(directory)) {
      return files.filter(Files::isRegularFile).sorted().toList();
    }
  }
}
