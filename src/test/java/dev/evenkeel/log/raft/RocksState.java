package dev.evenkeel.log.raft;

import dev.evenkeel.Unchecked;
import dev.evenkeel.broker.machine.SegmentBodies;
import dev.evenkeel.log.DamagedStateException;
import dev.evenkeel.log.EntryBodies;
import dev.evenkeel.log.EntryBody;
import dev.evenkeel.log.ReplicatedState;
import dev.evenkeel.storage.DamagedStoreException;
import dev.evenkeel.storage.RocksShared;
import dev.evenkeel.storage.RocksStore;
import dev.evenkeel.storage.Store;
import dev.evenkeel.storage.Store.Table;
import dev.evenkeel.storage.StoreFiles;
import dev.evenkeel.util.files.ByteRate;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * A state that keeps the head of every entry by its index, finds the rest in the file of its body,
 * and answers with the index.
 */
final class RocksState implements ReplicatedState {
  /** The first byte of a head. */
  static final byte ALONE = 'a';

  static final byte WITH_BODY = 'b';

  private static final long SEGMENT_BYTES = 4 << 20;
  private static final String BODIES = "bodies";
  private static final byte[] FIRST = ByteBuffer.allocate(8).putLong(0).array();
  private static final byte[] END = ByteBuffer.allocate(8).putLong(Long.MAX_VALUE).array();

  private final Path live;
  private final RocksShared shared;
  private final Path bodiesDirectory;
  private final EntryBodies bodies;
  final AtomicInteger restores = new AtomicInteger();
  final AtomicInteger snapshots = new AtomicInteger();
  volatile boolean broken;
  volatile boolean full;
  private volatile RocksStore store;

  RocksState(Path live, RocksShared shared) {
    this.live = live;
    this.shared = shared;
    // Not with the live store, which a node can build again.
    bodiesDirectory = live.getParent().resolveSibling(BODIES).resolve(live.getFileName());
    bodies = new SegmentBodies(bodiesDirectory, SEGMENT_BYTES);
  }

  @Override
  public void open() throws IOException {
    try {
      store = RocksStore.open(live, shared);
      store.checkFiles(new ByteRate(1L << 40));
    } catch (DamagedStoreException e) {
      if (store != null) {
        store.close();
      }
      throw new DamagedStateException(e.getMessage(), e);
    }
  }

  @Override
  public EntryBodies bodies() {
    return bodies;
  }

  Path bodiesDirectory() {
    return bodiesDirectory;
  }

  @Override
  public ByteBuffer apply(long term, long index, ByteBuffer head, EntryBody body) {
    if (broken) {
      throw new IllegalStateException("a bug in apply");
    }
    if (index > store.appliedIndex()) {
      try (Store.Write write = store.begin()) {
        checkReadable(index, head, body);
        byte[] kept = new byte[head.remaining()];
        head.get(head.position(), kept);
        write.put(Table.INDEX, key(index), kept);
        write.commit(term, index, null);
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }
    return ByteBuffer.allocate(8).putLong(index).flip();
  }

  private void checkReadable(long index, ByteBuffer head, EntryBody body) throws IOException {
    ByteBuffer read = bodies.read(index);
    if (head.get(head.position()) == WITH_BODY && read == null) {
      throw new IllegalStateException("no body of entry " + index);
    }
    if (body.inMemory()) {
      ByteBuffer joined = ByteBuffer.allocate(read.remaining());
      body.parts().forEach(part -> joined.put(part.duplicate()));
      if (!joined.flip().equals(read)) {
        throw new IllegalStateException("the body of entry " + index + " differs");
      }
    }
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
    if (full) {
      throw new IOException("No space left on device");
    }
    bodies.link(directory.resolve(BODIES), store.appliedIndex());
  }

  @Override
  public synchronized void restore(Path directory) throws IOException {
    bodies.restore(directory.resolve(BODIES));
    store.close();
    StoreFiles.replace(live, directory);
    store = RocksStore.open(live, shared);
    restores.incrementAndGet();
  }

  @Override
  public void setAside(Path directory) throws IOException {
    if (Files.exists(live)) {
      Files.move(live, directory.resolve("live"));
    }
    bodies.setAside(directory.resolve(BODIES));
  }

  @Override
  public void close() throws IOException {
    if (store != null) {
      store.close();
    }
  }

  /** The entry at an index as text, or null; waits while a snapshot takes the store's place. */
  synchronized String at(long index) {
    byte[] head = store.get(Table.INDEX, key(index));
    return head == null ? null : text(index, head);
  }

  /** All entries as text, in order; waits while a snapshot takes the store's place. */
  synchronized List<String> entries() {
    List<String> entries = new ArrayList<>();
    try (Store.Cursor cursor = store.scan(Table.INDEX, FIRST, END)) {
      while (cursor.next()) {
        entries.add(text(ByteBuffer.wrap(cursor.key()).getLong(), cursor.value()));
      }
    }
    return entries;
  }

  private String text(long index, byte[] head) {
    var text = new StringBuilder(new String(head, 1, head.length - 1, StandardCharsets.UTF_8));
    if (head[0] == WITH_BODY) {
      Unchecked.run(() -> text.append(StandardCharsets.UTF_8.decode(bodies.read(index))));
    }
    return text.toString();
  }

  private static byte[] key(long index) {
    return ByteBuffer.allocate(8).putLong(index).array();
  }
}
