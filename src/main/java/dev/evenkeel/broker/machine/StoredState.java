package dev.evenkeel.broker.machine;

import dev.evenkeel.log.ReplicatedState;
import dev.evenkeel.model.RefusedException;
import dev.evenkeel.store.Store;
import dev.evenkeel.wire.Entry;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.function.Function;

/**
 * What both state machines share: an entry is decided, its changes are written together with its
 * position in one write, and only then do they show in memory. A write that fails leaves memory as
 * it was, and the log stops.
 */
abstract class StoredState implements ReplicatedState {
  private static final ByteBuffer NOTHING = ByteBuffer.allocate(0).asReadOnlyBuffer();

  private final LiveStore live;
  private volatile long appliedIndex = -1;
  private volatile long appliedTerm;

  StoredState(Path directory, StoreOpener opener) {
    live = new LiveStore(directory, opener);
  }

  /** What an entry came to. */
  interface Outcome {
    void write(Store.Write write);

    /** Lets it show in memory, after it has been written. */
    void show();

    ByteBuffer reply();
  }

  /** Reads all of memory back from the store. */
  abstract void load(Store store);

  abstract Outcome decide(Store store, long index, Entry entry);

  /** The outcome of an entry that cannot be read: it changes nothing. */
  abstract Outcome refuse(RefusedException refused);

  @Override
  public final void open() throws IOException {
    live.open();
    loadAll();
  }

  private void loadAll() {
    Store store = live.store();
    load(store);
    appliedIndex = store.appliedIndex();
    appliedTerm = store.appliedTerm();
  }

  @Override
  public final ByteBuffer apply(long term, long index, ByteBuffer entry) {
    if (index <= appliedIndex) {
      return NOTHING;
    }
    Store store = live.store();
    Outcome outcome;
    try {
      outcome = decide(store, index, Entry.read(entry));
    } catch (RefusedException refused) {
      outcome = refuse(refused);
    }
    try (Store.Write write = store.begin()) {
      outcome.write(write);
      write.commit(term, index);
    } catch (IOException e) {
      throw new UncheckedIOException("log entry " + index + " could not be written", e);
    }
    appliedIndex = index;
    appliedTerm = term;
    outcome.show();
    return outcome.reply();
  }

  @Override
  public final long appliedIndex() {
    return appliedIndex;
  }

  @Override
  public final long appliedTerm() {
    return appliedTerm;
  }

  @Override
  public final void snapshot(Path directory) throws IOException {
    live.store().checkpoint(directory);
  }

  @Override
  public final void restore(Path directory) throws IOException {
    live.replace(directory, this::loadAll);
  }

  @Override
  public final void close() throws IOException {
    live.close();
  }

  /**
   * Bytes of the store on disk, roughly. Not on an event loop.
   *
   * @throws RefusedException UNAVAILABLE if it is closed
   */
  public final long bytesOnDisk() {
    return read(Store::bytesOnDisk);
  }

  /**
   * Reads the store from any thread but an event loop.
   *
   * @throws RefusedException UNAVAILABLE if it is closed
   */
  public final <T> T read(Function<Store, T> reader) {
    return live.read(reader);
  }
}
