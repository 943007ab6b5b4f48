package dev.evenkeel.client.internal.broadcast;

import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.RefusedException;
import java.io.File;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.OverlappingFileLockException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;

/**
 * The file {@code GROUP.offsets} of a directory, which a lock on {@code GROUP.lock} reserves for
 * one consumer at a time. The operating system releases the lock when the program ends, however it
 * ends. After a crash the file holds the last write or the one before it, whole. All methods block.
 */
final class OffsetsFile implements AutoCloseable {
  private static final boolean WINDOWS = File.separatorChar == '\\';

  private final Path file;
  private final FileChannel lock;

  private OffsetsFile(Path file, FileChannel lock) {
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
    FileChannel channel;
    try {
      Files.createDirectories(directory);
      channel = FileChannel.open(lockFile, StandardOpenOption.CREATE, StandardOpenOption.WRITE);
      if (!lock(channel)) {
        channel.close();
        throw new RefusedException(
            Refusal.INVALID,
            "offsets of group %s in %s are in use by another consumer: use another directory",
            group,
            directory);
      }
    } catch (IOException e) {
      throw new RefusedException(
          Refusal.INVALID, "the directory " + directory + " for offsets cannot be used: " + e);
    }
    return new OffsetsFile(directory.resolve(group + ".offsets"), channel);
  }

  private static boolean lock(FileChannel channel) throws IOException {
    try {
      return channel.tryLock() != null;
    } catch (OverlappingFileLockException e) {
      // Another consumer of this program has the lock.
      return false;
    }
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
    Path temp = file.resolveSibling(file.getFileName() + ".tmp");
    try (FileChannel channel =
        FileChannel.open(
            temp,
            StandardOpenOption.CREATE,
            StandardOpenOption.WRITE,
            StandardOpenOption.TRUNCATE_EXISTING)) {
      ByteBuffer bytes = ByteBuffer.wrap(offsets.encode());
      while (bytes.hasRemaining()) {
        channel.write(bytes);
      }
      channel.force(true);
    }
    Files.move(temp, file, StandardCopyOption.ATOMIC_MOVE);
    if (WINDOWS) {
      // On Windows a directory cannot be opened, and a rename is durable by itself.
      return;
    }
    try (FileChannel directory =
        FileChannel.open(file.toAbsolutePath().getParent(), StandardOpenOption.READ)) {
      directory.force(true);
    }
  }

  /** Releases the lock. */
  @Override
  public void close() throws IOException {
    lock.close();
  }
}
