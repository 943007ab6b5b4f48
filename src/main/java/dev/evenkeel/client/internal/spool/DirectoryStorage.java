package dev.evenkeel.client.internal.spool;

import dev.evenkeel.client.internal.spool.log.SpoolStorage;
import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.RefusedException;
import dev.evenkeel.util.files.DurableFiles;
import dev.evenkeel.util.files.LockedFile;
import dev.evenkeel.util.files.PrivateFiles;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Keeps the segments of a spool as files of one directory. It locks the directory until it is
 * closed, so that only one producer at a time uses it. If the program ends without that, the
 * operating system releases the lock.
 */
final class DirectoryStorage implements SpoolStorage, AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(DirectoryStorage.class);

  /** The locked file, which also says who holds the lock. */
  private static final String LOCK_NAME = "lock";

  private final Path directory;
  private final LockedFile lock;
  private final Map<String, FileChannel> open = new HashMap<>();

  /**
   * Makes the directory if need be, and locks it.
   *
   * @throws RefusedException INVALID if another producer has it, naming that
   */
  DirectoryStorage(Path directory) throws IOException {
    this.directory = directory;
    PrivateFiles.createDirectories(directory);
    Path file = directory.resolve(LOCK_NAME);
    lock = LockedFile.open(file);
    if (lock == null) {
      throw new RefusedException(
          Refusal.INVALID,
          "the spool %s is in use by %s: one producer at a time",
          directory,
          LockedFile.holder(file));
    }
  }

  @Override
  public List<String> names() throws IOException {
    List<String> names = new ArrayList<>();
    try (Stream<Path> files = Files.list(directory)) {
      files.forEach(file -> names.add(file.getFileName().toString()));
    }
    return names;
  }

  @Override
  public long size(String name) throws IOException {
    return channel(name).size();
  }

  @Override
  public int read(String name, long at, ByteBuffer into) throws IOException {
    return Math.max(0, channel(name).read(into, at));
  }

  @Override
  public void append(String name, ByteBuffer bytes) throws IOException {
    boolean known = open.containsKey(name);
    FileChannel channel = channel(name);
    long at = channel.size();
    while (bytes.hasRemaining()) {
      at += channel.write(bytes, at);
    }
    if (!known) {
      forceDirectory();
    }
  }

  @Override
  public void force(String name) throws IOException {
    channel(name).force(false);
  }

  @Override
  public void truncate(String name, long size) throws IOException {
    channel(name).truncate(size);
    channel(name).force(true);
  }

  @Override
  public void delete(String name) throws IOException {
    FileChannel channel = open.remove(name);
    if (channel != null) {
      channel.close();
    }
    Files.deleteIfExists(directory.resolve(name));
  }

  private FileChannel channel(String name) throws IOException {
    FileChannel channel = open.get(name);
    if (channel == null) {
      channel =
          PrivateFiles.open(
              directory.resolve(name),
              StandardOpenOption.CREATE,
              StandardOpenOption.READ,
              StandardOpenOption.WRITE);
      open.put(name, channel);
    }
    return channel;
  }

  /** A new file's name, too, must survive a crash of the machine. */
  private void forceDirectory() {
    try {
      DurableFiles.force(directory);
    } catch (IOException e) {
      // Not every operating system can.
      LOG.debug("cannot force {}: {}", directory, e.toString());
    }
  }

  @Override
  public void close() throws IOException {
    try (lock) {
      for (FileChannel channel : open.values()) {
        channel.close();
      }
      open.clear();
    }
  }
}
