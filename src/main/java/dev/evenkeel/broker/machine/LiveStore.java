package dev.evenkeel.broker.machine;

import dev.evenkeel.model.Refusal;
import dev.evenkeel.model.RefusedException;
import dev.evenkeel.store.Store;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import java.util.function.Function;
import java.util.stream.Stream;

/**
 * The store that a state machine works on. Readers of other threads hold a lock, so that a snapshot
 * can take the store's place, or the node stop, without closing it under them.
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
      Files.createDirectories(directory);
      store = opener.open(directory);
    } catch (IOException e) {
      Throwable cause = e.getCause() == null ? e : e.getCause();
      IOException told =
          new IOException(
              "cannot open "
                  + directory
                  + " ("
                  + cause.getMessage()
                  + "): if it is damaged, delete it, and it is made again from the snapshot and the"
                  + " log");
      told.addSuppressed(e);
      throw told;
    } finally {
      lock.writeLock().unlock();
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
        throw new RefusedException(Refusal.UNAVAILABLE, "this node is stopping");
      }
      return reader.apply(store);
    } finally {
      lock.readLock().unlock();
    }
  }

  /** Puts a copy of a snapshot into the store's place; {@code then} runs before anyone reads it. */
  void replace(Path snapshot, Runnable then) throws IOException {
    Path fresh = directory.resolveSibling(directory.getFileName() + ".restoring");
    delete(fresh);
    copy(snapshot, fresh);
    lock.writeLock().lock();
    try {
      closeStore();
      delete(directory);
      // A crash here leaves no store: the log then restores the snapshot again.
      Files.move(fresh, directory, StandardCopyOption.ATOMIC_MOVE);
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

  private static void copy(Path from, Path to) throws IOException {
    List<Path> files;
    try (Stream<Path> walk = Files.walk(from)) {
      files = walk.sorted().toList();
    }
    for (Path file : files) {
      Path target = to.resolve(from.relativize(file).toString());
      if (Files.isDirectory(file)) {
        Files.createDirectories(target);
      } else {
        Files.copy(file, target);
        try (FileChannel channel = FileChannel.open(target, StandardOpenOption.WRITE)) {
          channel.force(true);
        }
      }
    }
  }

  private static void delete(Path directory) throws IOException {
    if (!Files.exists(directory)) {
      return;
    }
    List<Path> files;
    try (Stream<Path> walk = Files.walk(directory)) {
      files = walk.sorted(Comparator.reverseOrder()).toList();
    }
    for (Path file : files) {
      Files.delete(file);
    }
  }
}
