package dev.evenkeel.log.raft;

import dev.evenkeel.log.LogStartException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.OverlappingFileLockException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/**
 * Keeps a second process from using a data directory. The operating system frees the lock when the
 * process dies.
 */
final class DirectoryLock implements AutoCloseable {
  private final FileChannel channel;

  private DirectoryLock(FileChannel channel) {
    this.channel = channel;
  }

  static DirectoryLock acquire(Path directory) throws LogStartException {
    Path file = directory.resolve("lock");
    FileChannel channel = null;
    try {
      channel =
          FileChannel.open(
              file, StandardOpenOption.CREATE, StandardOpenOption.READ, StandardOpenOption.WRITE);
      FileLock lock = tryLock(channel);
      if (lock == null) {
        String owner = read(channel);
        channel.close();
        throw new LogStartException(
            String.format(
                "the data directory %s is in use by another process%s; stop it, or give this "
                    + "node another data directory",
                directory, owner.isEmpty() ? "" : " (pid " + owner + ")"));
      }
      channel.truncate(0);
      String pid = Long.toString(ProcessHandle.current().pid());
      channel.write(ByteBuffer.wrap(pid.getBytes(StandardCharsets.US_ASCII)), 0);
      return new DirectoryLock(channel);
    } catch (IOException e) {
      closeQuietly(channel);
      throw new LogStartException("cannot lock the data directory " + directory + ": " + e, e);
    }
  }

  private static FileLock tryLock(FileChannel channel) throws IOException {
    try {
      return channel.tryLock();
    } catch (OverlappingFileLockException e) {
      return null;
    }
  }

  private static String read(FileChannel channel) throws IOException {
    ByteBuffer buffer = ByteBuffer.allocate(32);
    channel.read(buffer, 0);
    return new String(buffer.array(), 0, buffer.position(), StandardCharsets.US_ASCII).trim();
  }

  private static void closeQuietly(FileChannel channel) {
    if (channel != null) {
      try {
        channel.close();
      } catch (IOException e) {
        // The failure that led here is the one to report.
      }
    }
  }

  @Override
  public void close() {
    closeQuietly(channel);
  }
}
