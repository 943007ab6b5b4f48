package dev.evenkeel.client.internal.spool.log;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.List;

/** The segments of one spool. Methods block. Not thread-safe. */
public interface SpoolStorage {
  /** Names of all segments, in any order. */
  List<String> names() throws IOException;

  long size(String name) throws IOException;

  /**
   * Reads from byte {@code at} on, as much as is there and fits.
   *
   * @return bytes read; 0 at the end
   */
  int read(String name, long at, ByteBuffer into) throws IOException;

  /**
   * Writes all bytes at the end of a segment, which is made if it is not there. If it fails, any
   * part may have been written.
   */
  void append(String name, ByteBuffer bytes) throws IOException;

  /** Returns when all that was written to the segment survives a crash of the machine. */
  void force(String name) throws IOException;

  void truncate(String name, long size) throws IOException;

  void delete(String name) throws IOException;
}
