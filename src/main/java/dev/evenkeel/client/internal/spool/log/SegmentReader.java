package dev.evenkeel.client.internal.spool.log;

import java.io.IOException;
import java.nio.ByteBuffer;

/** Reads the records of one segment, one after another, through a small buffer. */
final class SegmentReader {
  private static final int BUFFER_BYTES = 512 << 10;

  private final SpoolStorage storage;
  private final String name;
  private ByteBuffer buffer = ByteBuffer.allocate(BUFFER_BYTES).limit(0);

  private boolean endsEarly;

  /** Of the buffer's first byte. */
  private long bufferAt;

  SegmentReader(SpoolStorage storage, String name, long at) {
    this.storage = storage;
    this.name = name;
    bufferAt = at;
  }

  /** Where the next record begins. */
  long position() {
    return bufferAt + buffer.position();
  }

  /**
   * The next record, or null if the segment ends with the one before.
   *
   * @throws dev.evenkeel.protocol.RefusedException if what follows is no whole and good record;
   *     {@link #position()} then stays
   */
  SpoolRecord next() throws IOException {
    int size = RecordFormat.size(buffer);
    while (buffer.remaining() < size) {
      int before = buffer.remaining();
      fill(size);
      if (buffer.remaining() == 0) {
        return null;
      }
      size = RecordFormat.size(buffer);
      if (buffer.remaining() == before) {
        endsEarly = true;
        throw RecordFormat.endsEarly(size, before);
      }
    }
    return RecordFormat.next(buffer);
  }

  /** Whether the segment ended before the record did. */
  boolean endsEarly() {
    return endsEarly;
  }

  private void fill(int bytesNeeded) throws IOException {
    bufferAt += buffer.position();
    if (buffer.capacity() < bytesNeeded) {
      buffer = ByteBuffer.allocate(bytesNeeded).put(buffer);
    } else {
      buffer.compact();
    }
    while (buffer.hasRemaining() && storage.read(name, bufferAt + buffer.position(), buffer) > 0) {
      continue;
    }
    buffer.flip();
  }
}
