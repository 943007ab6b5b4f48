package dev.evenkeel.util.files;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Instant;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/**
 * A file with a lock that one user at a time has, in this process or another, and which says who
 * has it. The operating system releases the lock when the process ends, however it ends.
 *
 * <p>On POSIX systems it also releases the lock as soon as the process closes any other descriptor
 * of the file. So nothing here opens a file that this process has locked.
 */
public final class LockedFile implements AutoCloseable {
  /** Far behind the text, so that others can read the text even where locks forbid it. */
  private static final long LOCKED_BYTE = 1L << 40;

  private static final int HOLDER_BYTES_MAX = 200;

  /** What this process has locked, and since when. */
  private static final Map<Path, String> HELD = new ConcurrentHashMap<>();

  private final Path key;
  private final String holder;
  private final FileChannel channel;

  private LockedFile(Path key, String holder, FileChannel channel) {
    this.key = key;
    this.holder = holder;
    this.channel = channel;
  }

  /**
   * Creates the file if it is not there, and locks it.
   *
   * @return null if another user has the lock
   */
  public static LockedFile open(Path file) throws IOException {
    Path key = key(file);
    String holder = "pid " + ProcessHandle.current().pid() + " since " + Instant.now();
    if (HELD.putIfAbsent(key, holder) != null) {
      return null;
    }
    LockedFile locked = null;
    try {
      locked = lock(key, holder);
    } finally {
      if (locked == null) {
        HELD.remove(key);
      }
    }
    return locked;
  }

  private static LockedFile lock(Path key, String holder) throws IOException {
    FileChannel channel =
        PrivateFiles.open(key, StandardOpenOption.CREATE, StandardOpenOption.WRITE);
    LockedFile locked = null;
    try {
      if (channel.tryLock(LOCKED_BYTE, 1, false) != null) {
        channel.truncate(0);
        channel.write(ByteBuffer.wrap(holder.getBytes(StandardCharsets.UTF_8)), 0);
        locked = new LockedFile(key, holder, channel);
      }
    } finally {
      if (locked == null) {
        channel.close();
      }
    }
    return locked;
  }

  /** The same for every name of the file. */
  private static Path key(Path file) throws IOException {
    return file.toAbsolutePath().getParent().toRealPath().resolve(file.getFileName());
  }

  /** Who has the lock of a file, such as "pid 17 since 2026-01-31T12:00:00Z". */
  public static String holder(Path file) {
    try {
      String here = HELD.get(key(file));
      if (here != null) {
        return here;
      }
      byte[] text = Files.readAllBytes(file);
      if (text.length > 0 && text.length <= HOLDER_BYTES_MAX) {
        return new String(text, StandardCharsets.UTF_8);
      }
    } catch (IOException e) {
      return "another program (" + e.getMessage() + ")";
    }
    return "another program";
  }

  /** Releases the lock. */
  @Override
  public void close() {
    try {
      channel.close();
    } catch (IOException e) {
      // Nothing was written since it was opened, and the lock ends with the process.
    }
    HELD.remove(key, holder);
  }
}
