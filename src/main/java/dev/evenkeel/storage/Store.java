package dev.evenkeel.storage;

import dev.evenkeel.util.files.ByteRate;
import java.io.Closeable;
import java.io.IOException;
import java.nio.file.Path;

/**
 * An ordered key-value store with the state of one log group. Keys compare as unsigned bytes.
 * Writing is done by one thread; reading may happen from any, and sees whole writes only.
 */
public interface Store extends Closeable {

  /** Parts of the state. The order is part of the format on disk. */
  enum Table {
    /** Small records of the state machine: topics, groups, shards, settings. */
    META,
    /**
     * (shard, base offset) → where the batch is, and what is needed to find it without reading it.
     */
    INDEX,
    /** (group, shard) → lease. */
    LEASES,
    /** producer → what is remembered of it. */
    PRODUCERS,
    /** (group, shard) → retries, dead letters, and what belongs to them. */
    FAILURES,
    /** (shard, due, serial) → header of the delayed batch, and where it is. */
    DELAYED
  }

  /** Index of the log entry that the last write stood for, or -1. */
  long appliedIndex();

  /** Term of that entry, or 0. */
  long appliedTerm();

  /** The note of the last write, or null if it had none. */
  byte[] appliedNote();

  /** Starts collecting changes; they become visible and survive together, or not at all. */
  Write begin();

  /** The value, or null. */
  byte[] get(Table table, byte[] key);

  /**
   * Iterates over keys from {@code from} (inclusive) to {@code to} (exclusive), forward. The cursor
   * sees one moment of the state. A scan from the very first key, an empty one, reads most of a
   * table once: what it reads does not push what others need out of the cache.
   */
  Cursor scan(Table table, byte[] from, byte[] to);

  /** Like {@link #scan}, from the last key below {@code to} backward down to {@code from}. */
  Cursor scanBackward(Table table, byte[] from, byte[] to);

  /** Makes a durable copy in a directory that does not exist yet; quick (hard links). */
  void checkpoint(Path directory) throws IOException;

  /**
   * Compares the files of the store with their checksums. The store may be used and closed
   * meanwhile.
   *
   * @param rate how fast to read
   * @throws DamagedStoreException if one does not match
   */
  default void checkFiles(ByteRate rate) throws IOException {}

  /** Bytes on disk, roughly. */
  long bytesOnDisk();

  /** Changes that belong to one log entry. Not thread-safe. */
  interface Write extends AutoCloseable {
    void put(Table table, byte[] key, byte[] value);

    void delete(Table table, byte[] key);

    /**
     * Puts a row.
     *
     * @param value null: deletes the row
     */
    default void putOrDelete(Table table, byte[] key, byte[] value) {
      if (value == null) {
        delete(table, key);
      } else {
        put(table, key, value);
      }
    }

    /**
     * Deletes keys from {@code from} (inclusive) to {@code to} (exclusive), and frees their space.
     */
    void deleteRange(Table table, byte[] from, byte[] to);

    /**
     * Applies all changes and the position of the log entry in one write.
     *
     * @param note a few bytes to be kept beside the position; null: none
     */
    void commit(long term, long index, byte[] note) throws IOException;

    /** Drops the changes unless they were committed. */
    @Override
    void close();
  }

  /** Begins before the first entry. Close it soon: it pins files. */
  interface Cursor extends AutoCloseable {
    boolean next();

    byte[] key();

    byte[] value();

    @Override
    void close();
  }
}
