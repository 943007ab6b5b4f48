package dev.evenkeel.storage;

import dev.evenkeel.util.files.ByteRate;
import dev.evenkeel.util.files.PrivateFiles;
import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import org.rocksdb.Checkpoint;
import org.rocksdb.ColumnFamilyHandle;
import org.rocksdb.CompactRangeOptions;
import org.rocksdb.FlushOptions;
import org.rocksdb.LiveFileMetaData;
import org.rocksdb.Options;
import org.rocksdb.RocksDB;
import org.rocksdb.RocksDBException;
import org.rocksdb.SstFileReader;
import org.rocksdb.Status;
import org.rocksdb.WriteBatch;
import org.rocksdb.WriteOptions;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A store in one RocksDB database. It has no write-ahead log: the replicated log is the log. After
 * a crash the store is at some earlier moment, the same one for all tables. {@link #appliedIndex()}
 * says which, so that the entries after it can be applied again.
 *
 * <p>Every method blocks for the disk; none may be called on an event loop. After {@link #close()},
 * which ends open cursors, every method throws {@link IllegalStateException}.
 */
public final class RocksStore implements Store {
  private static final byte[] APPLIED_KEY = {'a', 'p', 'p', 'l', 'i', 'e', 'd'};
  private static final int BATCH_RESERVED_BYTES = 256 << 10;

  private static final Logger LOG = LoggerFactory.getLogger(RocksStore.class);

  private final Path directory;
  private final RocksShared shared;
  private final RocksOptions options;
  private final RocksDB database;
  private final List<ColumnFamilyHandle> families;
  private final WriteOptions writeOptions = new WriteOptions().setDisableWAL(true);
  private final DeletedRanges deletedRanges = new DeletedRanges();
  private final Set<RocksCursor> cursors = ConcurrentHashMap.newKeySet();

  /** Held for reading by every use of the database, for writing to close it. */
  private final ReentrantReadWriteLock life = new ReentrantReadWriteLock();

  private WriteBatch spareBatch = new WriteBatch(BATCH_RESERVED_BYTES);
  private volatile Applied applied;
  private volatile boolean closed;

  /** The compaction under way, guarded by itself as is {@link #closing}. */
  private final AtomicReference<CompactRangeOptions> compacting = new AtomicReference<>();

  private volatile boolean closing;

  private record Applied(long term, long index, byte[] note) {}

  private RocksStore(
      Path directory,
      RocksShared shared,
      RocksOptions options,
      RocksDB database,
      List<ColumnFamilyHandle> families)
      throws RocksDBException {
    this.directory = directory;
    this.shared = shared;
    this.options = options;
    this.database = database;
    this.families = families;
    byte[] position = database.get(families.get(0), APPLIED_KEY);
    if (position == null) {
      applied = new Applied(0, -1, null);
    } else {
      ByteBuffer in = ByteBuffer.wrap(position);
      applied = new Applied(in.getLong(), in.getLong(), note(in));
    }
  }

  private static byte[] note(ByteBuffer in) {
    byte[] note = new byte[in.remaining()];
    in.get(note);
    return note.length == 0 ? null : note;
  }

  /**
   * Opens the store in a directory, which is made if it is missing.
   *
   * @throws IOException if it cannot be opened: damaged, in use by another process, no access
   */
  public static RocksStore open(Path directory, RocksShared shared) throws IOException {
    PrivateFiles.createDirectories(directory);
    RocksOptions options = new RocksOptions(shared);
    List<ColumnFamilyHandle> families = new ArrayList<>();
    RocksDB database = null;
    try {
      database =
          RocksDB.open(options.database(), directory.toString(), options.descriptors(), families);
      return new RocksStore(directory, shared, options, database, families);
    } catch (RocksDBException e) {
      families.forEach(ColumnFamilyHandle::close);
      if (database != null) {
        database.close();
      }
      options.close();
      throw asIoException("cannot open the store in " + directory, e);
    }
  }

  @Override
  public long appliedIndex() {
    return applied.index();
  }

  @Override
  public long appliedTerm() {
    return applied.term();
  }

  @Override
  public byte[] appliedNote() {
    return applied.note();
  }

  @Override
  public Write begin() {
    checkOpen();
    WriteBatch batch = spareBatch;
    spareBatch = null;
    return new RocksWrite(this, batch == null ? new WriteBatch(BATCH_RESERVED_BYTES) : batch);
  }

  @Override
  public byte[] get(Table table, byte[] key) {
    enter();
    try {
      return database.get(family(table), key);
    } catch (RocksDBException e) {
      throw new UncheckedIOException(asIoException("cannot read the store in " + directory, e));
    } finally {
      leave();
    }
  }

  @Override
  public Cursor scan(Table table, byte[] from, byte[] to) {
    return cursor(table, from, to, false);
  }

  @Override
  public Cursor scanBackward(Table table, byte[] from, byte[] to) {
    return cursor(table, from, to, true);
  }

  private Cursor cursor(Table table, byte[] from, byte[] to, boolean backward) {
    enter();
    try {
      RocksCursor cursor = new RocksCursor(this, database, family(table), from, to, backward);
      cursors.add(cursor);
      return cursor;
    } finally {
      leave();
    }
  }

  @Override
  public void checkpoint(Path copy) throws IOException {
    enter();
    try (FlushOptions flush = new FlushOptions().setWaitForFlush(true);
        Checkpoint checkpoint = Checkpoint.create(database)) {
      database.flush(flush, families);
      create(checkpoint, copy);
      List<DeletedRange> ranges = deletedRanges.take();
      if (!ranges.isEmpty()) {
        shared.background().execute(() -> freeSpaceOf(ranges));
      }
    } catch (RocksDBException e) {
      throw asIoException("cannot copy the store in " + directory + " to " + copy, e);
    } finally {
      leave();
    }
  }

  private void create(Checkpoint checkpoint, Path copy) throws IOException {
    try {
      checkpoint.createCheckpoint(copy.toString());
    } catch (RocksDBException e) {
      String what = "cannot copy the store in " + directory + " to " + copy;
      boolean ownFile = String.valueOf(e.getMessage()).contains(directory + File.separator);
      boolean io = e.getStatus() != null && e.getStatus().getCode() == Status.Code.IOError;
      // A copy that cannot be written says nothing about the store.
      throw io && !ownFile
          ? new IOException(what + ": " + e.getMessage(), e)
          : asIoException(what, e);
    }
  }

  /**
   * Frees the space of deleted ranges, only after a flush has made the deletions durable. Done at
   * once, a crash could bring back a moment before the deletion, with the data already gone, and
   * applying the log again from there would not give the same state.
   *
   * <p>Dropping files alone would not do: it passes over the newest level.
   */
  private void freeSpaceOf(List<DeletedRange> ranges) {
    for (DeletedRange range : ranges) {
      life.readLock().lock();
      try {
        if (!closing) {
          freeSpaceOf(range);
        }
      } catch (RocksDBException e) {
        if (!closing) {
          LOG.warn("cannot free the space of deleted data in {}: {}", directory, e.getMessage());
        }
      } finally {
        life.readLock().unlock();
      }
    }
  }

  private void freeSpaceOf(DeletedRange range) throws RocksDBException {
    ColumnFamilyHandle family = family(range.table());
    database.deleteFilesInRanges(
        family, List.of(range.from(), range.to()), /* includeEnd= */ false);
    try (CompactRangeOptions compaction =
        new CompactRangeOptions().setExclusiveManualCompaction(false)) {
      synchronized (compacting) {
        compaction.setCanceled(closing);
        compacting.set(compaction);
      }
      try {
        database.compactRange(family, range.from(), range.to(), compaction);
      } finally {
        // Before the options are closed, so that nobody cancels through closed ones.
        synchronized (compacting) {
          compacting.set(null);
        }
      }
    }
  }

  @Override
  public void checkFiles(ByteRate rate) throws IOException {
    for (LiveFileMetaData file : liveFiles()) {
      rate.take(file.size());
      Path path = Path.of(file.path(), file.fileName());
      try (Options defaults = new Options();
          SstFileReader reader = new SstFileReader(defaults)) {
        reader.open(path.toString());
        reader.verifyChecksum();
      } catch (RocksDBException e) {
        // Files that were compacted meanwhile are deleted.
        if (Files.exists(path)) {
          throw asIoException("cannot check " + path, e);
        }
      }
    }
  }

  private List<LiveFileMetaData> liveFiles() {
    enter();
    try {
      return database.getLiveFilesMetaData();
    } finally {
      leave();
    }
  }

  @Override
  public long bytesOnDisk() {
    enter();
    try {
      long bytes = 0;
      for (ColumnFamilyHandle family : families) {
        bytes += database.getLongProperty(family, "rocksdb.total-sst-files-size");
      }
      return bytes;
    } catch (RocksDBException e) {
      throw new UncheckedIOException(asIoException("cannot measure " + directory, e));
    } finally {
      leave();
    }
  }

  void commit(WriteBatch batch, List<DeletedRange> ranges, long term, long index, byte[] note)
      throws IOException {
    enter();
    try {
      if (index < applied.index()) {
        throw new IllegalStateException(
            "entry " + index + " written after entry " + applied.index());
      }
      int noteBytes = note == null ? 0 : note.length;
      ByteBuffer position = ByteBuffer.allocate(16 + noteBytes).putLong(term).putLong(index);
      if (note != null) {
        position.put(note);
      }
      batch.put(families.get(0), APPLIED_KEY, position.array());
      database.write(writeOptions, batch);
      applied = new Applied(term, index, note);
      ranges.forEach(deletedRanges::add);
    } catch (RocksDBException e) {
      throw asIoException("cannot write to the store in " + directory, e);
    } finally {
      leave();
    }
  }

  void giveBack(WriteBatch batch) {
    if (spareBatch == null && !closed) {
      batch.clear();
      spareBatch = batch;
    } else {
      batch.close();
    }
  }

  ColumnFamilyHandle family(Table table) {
    return families.get(table.ordinal() + 1);
  }

  void forget(RocksCursor cursor) {
    cursors.remove(cursor);
  }

  /**
   * Waits for reads and writes under way, ends open cursors (their owners get {@link
   * IllegalStateException}), writes what is still in memory to disk and closes the database.
   */
  @Override
  public void close() throws IOException {
    // A compaction may take seconds; a later one finishes what this one leaves undone.
    synchronized (compacting) {
      closing = true;
      if (compacting.get() != null) {
        compacting.get().setCanceled(true);
      }
    }
    life.writeLock().lock();
    try {
      if (closed) {
        return;
      }
      closed = true;
      // The order matters: a part that outlives the database it belongs to crashes the JVM.
      cursors.forEach(RocksCursor::end);
      cursors.clear();
      if (spareBatch != null) {
        spareBatch.close();
      }
      RocksDBException failure = flushForClose();
      families.forEach(ColumnFamilyHandle::close);
      database.close();
      writeOptions.close();
      options.close();
      if (failure != null) {
        throw asIoException(
            "closed the store in " + directory + " without its last writes", failure);
      }
    } finally {
      life.writeLock().unlock();
    }
  }

  private RocksDBException flushForClose() {
    try (FlushOptions flush = new FlushOptions().setWaitForFlush(true)) {
      database.flush(flush, families);
      return null;
    } catch (RocksDBException e) {
      return e;
    }
  }

  private void checkOpen() {
    enter();
    leave();
  }

  private void enter() {
    life.readLock().lock();
    if (closed) {
      life.readLock().unlock();
      throw new IllegalStateException("the store in " + directory + " is closed");
    }
  }

  private void leave() {
    life.readLock().unlock();
  }

  static IOException asIoException(String what, RocksDBException e) {
    String why = e.getMessage();
    String advice = "";
    if (why != null && (why.contains("lock file") || why.contains("LOCK:"))) {
      advice = "; another process has it open";
    } else if (why != null && why.contains("No space left")) {
      advice = "; free some disk space";
    }
    return isDamage(e)
        ? new DamagedStoreException(what + ": " + why, e)
        : new IOException(what + ": " + why + advice, e);
  }

  private static boolean isDamage(RocksDBException e) {
    Status status = e.getStatus();
    String why = String.valueOf(e.getMessage());
    return status != null
        && (status.getCode() == Status.Code.Corruption
            || status.getCode() == Status.Code.IOError
                && (why.contains("No such file") || why.contains("Input/output error")));
  }
}
