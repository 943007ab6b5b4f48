package dev.evenkeel.storage;

import java.io.UncheckedIOException;
import org.rocksdb.ColumnFamilyHandle;
import org.rocksdb.ReadOptions;
import org.rocksdb.RocksDB;
import org.rocksdb.RocksDBException;
import org.rocksdb.RocksIterator;
import org.rocksdb.Slice;

/**
 * A cursor that its store can close from another thread. An iterator used after its database is
 * closed would crash the JVM, so every step holds this object's lock and checks first.
 */
final class RocksCursor implements Store.Cursor {
  private final RocksStore store;
  private final boolean backward;
  private final Slice lower;
  private final Slice upper;
  private final ReadOptions options;
  private final RocksIterator iterator;
  private boolean started;
  private boolean closed;

  RocksCursor(
      RocksStore store,
      RocksDB database,
      ColumnFamilyHandle family,
      byte[] from,
      byte[] to,
      boolean backward) {
    this.store = store;
    this.backward = backward;
    lower = new Slice(from);
    upper = new Slice(to);
    options =
        new ReadOptions()
            .setIterateLowerBound(lower)
            .setIterateUpperBound(upper)
            .setFillCache(from.length > 0);
    iterator = database.newIterator(family, options);
  }

  @Override
  public synchronized boolean next() {
    checkOpen();
    if (!started) {
      started = true;
      if (backward) {
        iterator.seekToLast();
      } else {
        iterator.seekToFirst();
      }
    } else if (!iterator.isValid()) {
      return false;
    } else if (backward) {
      iterator.prev();
    } else {
      iterator.next();
    }
    if (iterator.isValid()) {
      return true;
    }
    try {
      iterator.status();
    } catch (RocksDBException e) {
      throw new UncheckedIOException(RocksStore.asIoException("cannot read the store", e));
    }
    return false;
  }

  @Override
  public synchronized byte[] key() {
    checkValid();
    return iterator.key();
  }

  @Override
  public synchronized byte[] value() {
    checkValid();
    return iterator.value();
  }

  @Override
  public void close() {
    if (end()) {
      store.forget(this);
    }
  }

  /** Frees the native parts; true the first time. */
  synchronized boolean end() {
    if (closed) {
      return false;
    }
    closed = true;
    iterator.close();
    options.close();
    lower.close();
    upper.close();
    return true;
  }

  private void checkValid() {
    checkOpen();
    if (!iterator.isValid()) {
      throw new IllegalStateException("the cursor does not stand on an entry");
    }
  }

  private void checkOpen() {
    if (closed) {
      throw new IllegalStateException("the cursor or its store is closed");
    }
  }
}
