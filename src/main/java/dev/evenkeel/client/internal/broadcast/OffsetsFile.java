package dev.evenkeel.client.internal.broadcast;

import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.RefusedException;
import dev.evenkeel.util.files.DurableFiles;
import dev.evenkeel.util.files.LockedFile;
import dev.evenkeel.util.files.PrivateFiles;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;

/**
 * The file {@code GROUP.offsets} of a directory, which a lock on {@code GROUP.lock} reserves for
 * one consumer at a time. The operating system releases the lock when the program ends, however it
 * ends. After a crash the file holds the last write or the one before it, whole. All methods block.
 */
final class OffsetsFile implements AutoCloseable {
  private final Path file;
  private final LockedFile lock;

  private OffsetsFile(Path file, LockedFile lock) {
    this.file = file;
    this.lock = lock;
  }

  /**
   * Creates the directory if it is not there, and takes the lock.
   *
   * @throws RefusedException INVALID if another consumer has it, or if the directory cannot be used
   */
  static OffsetsFile open(Path directory, String group) {
    Path lockFile = directory.resolve(group + ".lock");
    LockedFile lock;
    try {
      PrivateFiles.createDirectories(directory);
      lock = LockedFile.open(lockFile);
    } catch (IOException e) {
      throw new RefusedException(
          Refusal.INVALID, "the directory " + directory + " for offsets cannot be used: " + e);
    }
    if (lock == null) {
      throw new RefusedException(
          Refusal.INVALID,
          "offsets of group %s in %s are in use by another consumer (%s): use another directory",
          group,
          directory,
          LockedFile.holder(lockFile));
    }
    return new OffsetsFile(directory.resolve(group + ".offsets"), lock);
  }

  Path path() {
    return file;
  }

  /**
   * The offsets that were stored last; null if none ever were.
   *
   * @throws Offsets.DamagedException if the file is there and cannot be made sense of
   */
  Offsets read() throws IOException, Offsets.DamagedException {
    if (!Files.exists(file)) {
      return null;
    }
    long bytes = Files.size(file);
    if (bytes > Offsets.BYTES_MAX) {
      throw new Offsets.DamagedException("it has " + bytes + " bytes");
    }
    return Offsets.decode(Files.readAllBytes(file));
  }

  /** Moves the file aside, and returns its new path. */
  Path putAside() throws IOException {
    Path aside = file.resolveSibling(file.getFileName() + ".damaged");
    Files.move(file, aside, StandardCopyOption.REPLACE_EXISTING, StandardCopyOption.ATOMIC_MOVE);
    return aside;
  }

  /** Replaces the file. It is on disk when this returns. */
  void write(Offsets offsets) throws IOException {
    DurableFiles.write(file, offsets.encode());
  }

  /** Releases the lock. */
  @Override
  public void close() {
    lock.close();
  }
}
