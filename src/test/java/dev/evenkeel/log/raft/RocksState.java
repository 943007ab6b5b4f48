package dev.evenkeel.log.raft;

import dev.evenkeel.log.ReplicatedState;
import dev.evenkeel.storage.RocksShared;
import dev.evenkeel.storage.RocksStore;
import dev.evenkeel.storage.Store;
import dev.evenkeel.storage.Store.Table;
import dev.evenkeel.storage.StoreFiles;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;

/** A state that keeps every entry by its index, and answers with the index. */
final class RocksState implements ReplicatedState {
  private static final byte[] FIRST = ByteBuffer.allocate(8).putLong(0).array();
  private static final byte[] END = ByteBuffer.allocate(8).putLong(Long.MAX_VALUE).array();

  private final Path live;
  private final RocksShared shared;
  final AtomicInteger restores = new AtomicInteger();
  final AtomicInteger snapshots = new AtomicInteger();
  volatile boolean broken;
  private volatile RocksStore store;

  RocksState(Path live, RocksShared shared) {
    this.live = live;
    this.shared = shared;
  }

  @Override
  public void open() throws IOException {
    store = RocksStore.open(live, shared);
  }

  @Override
  public ByteBuffer apply(long term, long index, ByteBuffer entry) {
    if (broken) {
      throw new IllegalStateException("a bug in apply");
    }
    if (index > store.appliedIndex()) {
      try (Store.Write write = store.begin()) {
        write.put(Table.BATCHES, key(index), entry);
        write.commit(term, index);
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }
    return ByteBuffer.allocate(8).putLong(index).flip();
  }

  @Override
  public long appliedIndex() {
    return store.appliedIndex();
  }

  @Override
  public long appliedTerm() {
    return store.appliedTerm();
  }

  @Override
  public void snapshot(Path directory) throws IOException {
    snapshots.incrementAndGet();
    store.checkpoint(directory);
  }

  @Override
  public synchronized void restore(Path directory) throws IOException {
    store.close();
    StoreFiles.replace(live, directory);
    store = RocksStore.open(live, shared);
    restores.incrementAndGet();
  }

  @Override
  public void close() throws IOException {
    if (store != null) {
      store.close();
    }
  }

  /** The entry at an index as text, or null; waits while a snapshot takes the store's place. */
  synchronized String at(long index) {
    byte[] value = store.get(Table.BATCHES, key(index));
    return value == null ? null : new String(value, StandardCharsets.UTF_8);
  }

  /** All entries as text, in order; waits while a snapshot takes the store's place. */
  synchronized List<String> entries() {
    List<String> entries = new ArrayList<>();
    try (Store.Cursor cursor = store.scan(Table.BATCHES, FIRST, END)) {
      while (cursor.next()) {
        entries.add(new String(cursor.value(), StandardCharsets.UTF_8));
      }
    }
    return entries;
  }

  private static byte[] key(long index) {
    return ByteBuffer.allocate(8).putLong(index).array();
  }
}
