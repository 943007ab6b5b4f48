package dev.evenkeel.util.files;

import java.io.File;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Stream;

/** File operations that are on disk when they return. */
public final class DurableFiles {
  private static final boolean WINDOWS = File.separatorChar == '\\';

  private DurableFiles() {}

  /** Replaces a file's content: after a crash the file is the old or the new one. */
  public static void write(Path file, byte[] content) throws IOException {
    Path temp = file.resolveSibling(file.getFileName() + ".tmp");
    try (FileChannel channel =
        PrivateFiles.open(
            temp,
            StandardOpenOption.CREATE,
            StandardOpenOption.WRITE,
            StandardOpenOption.TRUNCATE_EXISTING)) {
      ByteBuffer bytes = ByteBuffer.wrap(content);
      while (bytes.hasRemaining()) {
        channel.write(bytes);
      }
      channel.force(true);
    }
    move(temp, file);
  }

  /** Renames atomically and makes the new name durable. */
  public static void move(Path from, Path to) throws IOException {
    Files.move(from, to, StandardCopyOption.ATOMIC_MOVE);
    force(to.toAbsolutePath().getParent());
  }

  /**
   * Makes the same file known by a second name, which is durable once its directory is flushed: a
   * hard link where the file system has links, else a flushed copy.
   */
  public static void link(Path file, Path copy) throws IOException {
    try {
      Files.createLink(copy, file);
    } catch (IOException | UnsupportedOperationException e) {
      // Another file system, or one without links: a copy takes longer and is as good.
      copy(file, copy);
    }
  }

  /** Copies a file and flushes the copy. */
  public static void copy(Path file, Path copy) throws IOException {
    Files.copy(file, copy, StandardCopyOption.REPLACE_EXISTING);
    force(copy);
  }

  /** Flushes a file, or the names in a directory. */
  public static void force(Path path) throws IOException {
    boolean directory = Files.isDirectory(path);
    if (WINDOWS && directory) {
      // There a directory cannot be opened, and a rename is durable by itself.
      return;
    }
    try (FileChannel channel =
        FileChannel.open(path, directory ? StandardOpenOption.READ : StandardOpenOption.WRITE)) {
      channel.force(true);
    }
  }

  /** Deletes a file, or a directory and everything in it, if it exists. */
  public static void deleteTree(Path directory) throws IOException {
    if (!Files.exists(directory)) {
      return;
    }
    try (Stream<Path> paths = Files.walk(directory)) {
      for (Path path : paths.sorted(Comparator.reverseOrder()).toList()) {
        Files.deleteIfExists(path);
      }
    }
  }

  /** The content of a directory; empty if it does not exist. */
  public static List<Path> list(Path directory) throws IOException {
    if (!Files.isDirectory(directory)) {
      return List.of();
    }
    try (Stream<Path> paths = Files.list(directory)) {
      return paths.sorted().toList();
    }
  }
}
