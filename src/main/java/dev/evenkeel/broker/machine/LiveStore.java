package dev.evenkeel.broker.machine;

import static dev.evenkeel.protocol.Refusal.UNAVAILABLE;

import dev.evenkeel.protocol.RefusedException;
import dev.evenkeel.storage.DamagedStoreException;
import dev.evenkeel.storage.Store;
import dev.evenkeel.storage.StoreFiles;
import dev.evenkeel.util.Causes;
import dev.evenkeel.util.files.DurableFiles;
import dev.evenkeel.util.files.PrivateFiles;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import java.util.function.Function;

/**
 * The store that a state machine works on. Readers on other threads hold a lock, so that neither a
 * snapshot that replaces the store nor a stopping node closes it while they read.
 */
final class LiveStore {
  private final Path directory;
  private final StoreOpener opener;
  private final ReentrantReadWriteLock lock = new ReentrantReadWriteLock();
  private Store store;

  LiveStore(Path directory, StoreOpener opener) {
    this.directory = directory;
    this.opener = opener;
  }

  void open() throws IOException {
    lock.writeLock().lock();
    try {
      PrivateFiles.createDirectories(directory);
      store = opener.open(directory);
    } catch (IOException e) {
      Throwable cause = e.getCause() == null ? e : e.getCause();
      throw new IOException(
          String.format("cannot open %s (%s)", directory, cause.getMessage()),
          Causes.first(DamagedStoreException.class, e));
    } finally {
      lock.writeLock().unlock();
    }
  }

  /** Moves the files of the store, which is not open. */
  void moveTo(Path target) throws IOException {
    if (Files.exists(directory)) {
      DurableFiles.move(directory, target);
      DurableFiles.force(directory.toAbsolutePath().getParent());
    }
  }

  /** The store itself, for the applying thread alone. */
  Store store() {
    return store;
  }

  /**
   * Reads from any thread but an event loop: it may wait for a disk.
   *
   * @throws RefusedException UNAVAILABLE if the store is closed
   */
  <T> T read(Function<Store, T> reader) {
    lock.readLock().lock();
    try {
      if (store == null) {
        throw UNAVAILABLE.error("this node is stopping");
      }
      return reader.apply(store);
    } finally {
      lock.readLock().unlock();
    }
  }

  /**
   * Puts a copy of a snapshot into the store's place, while nobody reads.
   *
   * @param first replaces what the store refers to. After a crash in it there is no store, so that
   *     the snapshot is restored again.
   * @param then reads the new store
   */
  void replace(Path snapshot, StoredState.DiskWork first, Runnable then) throws IOException {
    lock.writeLock().lock();
    try {
      closeStore();
      StoreFiles.remove(directory);
      first.run();
      StoreFiles.replace(directory, snapshot);
      store = opener.open(directory);
      then.run();
    } finally {
      lock.writeLock().unlock();
    }
  }

  void close() throws IOException {
    lock.writeLock().lock();
    try {
      closeStore();
    } finally {
      lock.writeLock().unlock();
    }
  }

  private void closeStore() throws IOException {
    if (store != null) {
      Store closing = store;
      store = null;
      closing.close();
    }
  }
}
