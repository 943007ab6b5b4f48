package dev.evenkeel.protocol.files;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.OverlappingFileLockException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Instant;

/**
 * A file with a lock that one user at a time has, in this process or another, and which says who
 * has it. The operating system releases the lock when the process ends, however it ends.
 */
public final class LockedFile implements AutoCloseable {
  /** Far behind the text, so that others can read the text even where locks forbid it. */
  private static final long LOCKED_BYTE = 1L << 40;

  private static final int HOLDER_BYTES_MAX = 200;

  private final FileChannel channel;

  private LockedFile(FileChannel channel) {
    this.channel = channel;
  }

  /**
   * Creates the file if it is not there, and locks it.
   *
   * @return null if another user has the lock
   */
  public static LockedFile open(Path file) throws IOException {
    FileChannel channel =
        FileChannel.open(file, StandardOpenOption.CREATE, StandardOpenOption.WRITE);
    boolean locked = false;
    try {
      if (channel.tryLock(LOCKED_BYTE, 1, false) == null) {
        return null;
      }
      String holder = "pid " + ProcessHandle.current().pid() + " since " + Instant.now();
      channel.truncate(0);
      channel.write(ByteBuffer.wrap(holder.getBytes(StandardCharsets.UTF_8)), 0);
      locked = true;
      return new LockedFile(channel);
    } catch (OverlappingFileLockException e) {
      // Another user in this process has it.
      return null;
    } finally {
      if (!locked) {
        channel.close();
      }
    }
  }

  /** Who has the lock of a file, such as "pid 17 since 2026-01-31T12:00:00Z". */
  public static String holder(Path file) {
    try {
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
  }
}
