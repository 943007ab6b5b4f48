package dev.evenkeel.storage.segment;

import java.io.Closeable;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/**
 * Reads a file from its beginning to its end, small pieces many at once. It is not mapped: a mapped
 * page that the disk cannot read may end the process.
 */
final class SegmentWindow implements Closeable {
  private static final int BYTES = 1 << 20;

  /** What a disk reads or cannot read as a whole, or a multiple of it. */
  private static final int PAGE_BYTES = 4_096;

  private final FileChannel file;
  private ByteBuffer bytes = ByteBuffer.allocate(BYTES).limit(0);
  private long from;

  SegmentWindow(Path path) throws IOException {
    file = FileChannel.open(path, StandardOpenOption.READ);
  }

  /** Bytes of the file, until the next call; null if the disk cannot read them, or it ends. */
  ByteBuffer read(long at, int length) throws IOException {
    if (at < from || at + length > from + bytes.limit()) {
      // What cannot be read may lie behind what is wanted.
      if (!fill(at, Math.max(length, BYTES)) && !fill(at, length)) {
        return null;
      }
    }
    return at + length > from + bytes.limit() ? null : bytes.slice((int) (at - from), length);
  }

  private boolean fill(long at, int length) throws IOException {
    if (bytes.capacity() < length) {
      bytes = ByteBuffer.allocate(length);
    }
    from = at;
    bytes.clear().limit(length);
    try {
      while (bytes.hasRemaining() && file.read(bytes, at + bytes.position()) >= 0) {
        // Reads on.
      }
      return true;
    } catch (IOException e) {
      bytes.clear();
      if (Segment.isUnreadable(e)) {
        return false;
      }
      throw e;
    } finally {
      bytes.flip();
    }
  }

  /** Where to go on behind a position at which nothing could be read. */
  static int behindUnreadable(int at) {
    return (at / PAGE_BYTES + 1) * PAGE_BYTES;
  }

  @Override
  public void close() throws IOException {
    file.close();
  }
}
