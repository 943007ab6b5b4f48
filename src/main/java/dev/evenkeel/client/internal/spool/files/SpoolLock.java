package dev.evenkeel.client.internal.spool.files;

import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.RefusedException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.OverlappingFileLockException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Instant;

/**
 * Keeps a spool to one producer at a time. The operating system lets go of it when the program
 * ends, however it ends.
 */
public final class SpoolLock implements AutoCloseable {
  /** Names the holder, for people. */
  private static final String NAME = "lock";

  private static final int HOLDER_BYTES_MAX = 200;

  /** Far behind the text, which others then may read even where locks forbid that. */
  private static final long LOCKED_BYTE = 1L << 40;

  private final FileChannel channel;

  private SpoolLock(FileChannel channel) {
    this.channel = channel;
  }

  /**
   * @throws RefusedException INVALID if another producer has it, naming that
   */
  public static SpoolLock take(Path directory) throws IOException {
    Path file = directory.resolve(NAME);
    FileChannel channel =
        FileChannel.open(file, StandardOpenOption.CREATE, StandardOpenOption.WRITE);
    FileLock lock = null;
    try {
      lock = channel.tryLock(LOCKED_BYTE, 1, false);
    } catch (OverlappingFileLockException e) {
      // Another producer of this program has it.
      lock = null;
    } finally {
      if (lock == null) {
        channel.close();
      }
    }
    if (lock == null) {
      throw new RefusedException(
          Refusal.INVALID,
          "the spool " + directory + " is in use by " + holder(file) + ": one producer at a time");
    }
    String holder = "pid " + ProcessHandle.current().pid() + " since " + Instant.now();
    channel.truncate(0);
    channel.write(ByteBuffer.wrap(holder.getBytes(StandardCharsets.UTF_8)), 0);
    return new SpoolLock(channel);
  }

  private static String holder(Path file) {
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

  @Override
  public void close() throws IOException {
    channel.close();
  }
}
