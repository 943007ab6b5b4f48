package dev.evenkeel.storage;

import dev.evenkeel.util.Daemon;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.rocksdb.Cache;
import org.rocksdb.Env;
import org.rocksdb.LRUCache;
import org.rocksdb.WriteBufferManager;

/**
 * Resources that all stores of one process share, so that their memory has one limit however many
 * log groups a node has: one block cache, one budget for unflushed writes, one set of background
 * threads. Close it after the last store.
 */
public final class RocksShared implements AutoCloseable {
  /** Blocks of index, filter and small records kept in memory, over all stores. */
  public static final long BLOCK_CACHE_BYTES_MAX = 32L << 20;

  /** Unflushed writes kept in memory, over all stores; reaching it starts a flush. */
  public static final long WRITE_BUFFER_BYTES_MAX = 64L << 20;

  private static final int BACKGROUND_THREADS = 2;

  private final Cache blockCache;
  private final Cache accounting;
  private final WriteBufferManager writeBuffers;
  private final Env env;
  private boolean closed;
  private final ExecutorService background =
      Executors.newSingleThreadExecutor(Daemon.named("store-background"));

  /** Loads the native library on first use. */
  public RocksShared() {
    NativeLibrary.load();
    blockCache = new LRUCache(BLOCK_CACHE_BYTES_MAX);
    // The manager books its memory in a cache. Booked in the block cache, full write buffers would
    // push out every block, so it gets a cache of its own that never holds anything else.
    accounting = new LRUCache(2 * WRITE_BUFFER_BYTES_MAX);
    writeBuffers = new WriteBufferManager(WRITE_BUFFER_BYTES_MAX, accounting);
    env = Env.getDefault();
    env.setBackgroundThreads(BACKGROUND_THREADS);
  }

  Cache blockCache() {
    return blockCache;
  }

  WriteBufferManager writeBuffers() {
    return writeBuffers;
  }

  Env env() {
    return env;
  }

  /** Runs long tasks that nobody waits for, one after another, over all stores. */
  Executor background() {
    return background;
  }

  /** Memory that blocks of all stores take; NaN once closed. */
  public synchronized double blockCacheBytes() {
    return closed ? Double.NaN : blockCache.getUsage();
  }

  /** Memory that unflushed writes of all stores take; NaN once closed. */
  public synchronized double writeBufferBytes() {
    return closed ? Double.NaN : accounting.getUsage();
  }

  /** Frees the native memory. No store may be open. */
  @Override
  public synchronized void close() {
    closed = true;
    background.shutdownNow();
    writeBuffers.close();
    accounting.close();
    blockCache.close();
  }
}
