package dev.evenkeel.storage;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.List;
import org.rocksdb.RocksDBException;
import org.rocksdb.WriteBatch;

/** Changes collected in a native batch. Used by the one writing thread. */
final class RocksWrite implements Store.Write {
  private final RocksStore store;
  private final WriteBatch batch;
  private List<DeletedRange> ranges = List.of();
  private boolean done;

  RocksWrite(RocksStore store, WriteBatch batch) {
    this.store = store;
    this.batch = batch;
  }

  @Override
  public void put(Store.Table table, byte[] key, byte[] value) {
    collect(() -> batch.put(store.family(table), key, value));
  }

  @Override
  public void delete(Store.Table table, byte[] key) {
    collect(() -> batch.delete(store.family(table), key));
  }

  @Override
  public void deleteRange(Store.Table table, byte[] from, byte[] to) {
    collect(() -> batch.deleteRange(store.family(table), from, to));
    if (ranges.isEmpty()) {
      ranges = new ArrayList<>();
    }
    ranges.add(new DeletedRange(table, from.clone(), to.clone()));
  }

  private interface Change {
    void apply() throws RocksDBException;
  }

  private void collect(Change change) {
    checkOpen();
    try {
      change.apply();
    } catch (RocksDBException e) {
      throw new UncheckedIOException(RocksStore.asIoException("cannot collect a change", e));
    }
  }

  @Override
  public void commit(long term, long index, byte[] note) throws IOException {
    checkOpen();
    store.commit(batch, ranges, term, index, note);
    close();
  }

  @Override
  public void close() {
    if (!done) {
      done = true;
      store.giveBack(batch);
    }
  }

  private void checkOpen() {
    if (done) {
      throw new IllegalStateException("the write is committed or closed");
    }
  }
}
