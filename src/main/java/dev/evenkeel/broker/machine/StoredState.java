package dev.evenkeel.broker.machine;

import static dev.evenkeel.protocol.Refusal.INTERNAL;
import static dev.evenkeel.protocol.Refusal.UNAVAILABLE;

import dev.evenkeel.broker.state.StateChange;
import dev.evenkeel.log.DamagedStateException;
import dev.evenkeel.log.EntryBodies;
import dev.evenkeel.log.EntryBody;
import dev.evenkeel.log.ReplicatedState;
import dev.evenkeel.log.UnreadableEntryException;
import dev.evenkeel.protocol.BuildVersion;
import dev.evenkeel.protocol.MalformedException;
import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.RefusedException;
import dev.evenkeel.protocol.Reply;
import dev.evenkeel.protocol.StateDigest;
import dev.evenkeel.protocol.wire.Entry;
import dev.evenkeel.protocol.wire.FeatureLevel;
import dev.evenkeel.protocol.wire.ReplyCodec;
import dev.evenkeel.storage.DamagedStoreException;
import dev.evenkeel.storage.Store;
import dev.evenkeel.util.Causes;
import dev.evenkeel.util.files.ByteRate;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The common part of both state machines. It decides about an entry, writes the changes together
 * with the entry's position in one write, and only then shows them in memory. If a write fails,
 * memory does not change, and the log stops.
 *
 * <p>What can go wrong with an entry, and what happens then:
 *
 * <pre>
 * of a feature level that this node does not read   the node stops, its position does not move
 * malformed                                         the node stops, its position does not move
 * refused by its decider                            the reply says so, nothing else changes
 * its decider throws: a bug                         refused INTERNAL, counted, logged as an error
 * the store cannot be read or written               the node stops, its position does not move
 * an Error, such as too little memory               the node stops, its position does not move
 * </pre>
 *
 * The third and the fourth depend on the state and the entry alone, so every replica comes to the
 * same. The others may happen on one node alone, which therefore must not go on.
 *
 * @param <C> what a decider gets: a command, or batches
 * @param <X> what it comes to
 */
public abstract class StoredState<C, X extends StateChange<?>> implements ReplicatedState {
  private static final Logger LOG = LoggerFactory.getLogger(StoredState.class);
  private static final ByteBuffer NOTHING = ByteBuffer.allocate(0).asReadOnlyBuffer();

  /** Parts of a snapshot. */
  private static final String STORE = "store";

  private static final String BODIES = "bodies";

  private final String name;
  private final LiveStore live;
  private final int levelRead;
  private final LongAdder failedDecisions = new LongAdder();
  private final DigestHistory digests = new DigestHistory();
  private volatile Consumer<String> onDamage = detail -> {};
  private volatile long appliedIndex = -1;
  private volatile long appliedTerm;
  private volatile int level = FeatureLevel.FIRST;

  /**
   * @param directory of the live store; its name is that of the log group
   * @param levelRead the highest {@link FeatureLevel} that this node reads
   */
  StoredState(Path directory, StoreOpener opener, int levelRead) {
    name = String.valueOf(directory.getFileName());
    live = new LiveStore(directory, opener);
    this.levelRead = levelRead;
  }

  /**
   * Calls {@code handler} when data on disk is found damaged, with a line for people, on any thread
   * that may wait for a disk.
   */
  public final void onDamage(Consumer<String> handler) {
    onDamage = handler;
  }

  /** Reports that the store returned something else than was written. */
  public final void damaged(String detail) {
    onDamage.accept(detail);
  }

  private void reportIfDamaged(Throwable failure) {
    DamagedStoreException damage = Causes.first(DamagedStoreException.class, failure);
    if (damage != null) {
      damaged(damage.getMessage());
    }
  }

  interface DiskWork {
    void run() throws IOException;
  }

  private void watched(DiskWork work) throws IOException {
    try {
      work.run();
    } catch (IOException | RuntimeException e) {
      reportIfDamaged(e);
      DamagedStateException damage = damage(e);
      if (damage != null) {
        throw damage;
      }
      throw e;
    }
  }

  private static DamagedStateException damage(Throwable failure) {
    DamagedStoreException damage = Causes.first(DamagedStoreException.class, failure);
    return damage == null ? null : new DamagedStateException(damage.getMessage(), failure);
  }

  /** The outcome of an entry: its changes and its reply. */
  record Outcome<X>(List<X> changes, ByteBuffer reply) {
    static <X> Outcome<X> of(List<X> changes, Reply reply) {
      return new Outcome<>(changes, ByteBuffer.wrap(ReplyCodec.encode(reply)));
    }
  }

  /** Reads all of memory back from the store. */
  abstract void load(Store store);

  /**
   * The command, or the batches, of an entry.
   *
   * @throws RefusedException if there is no such entry in a log of this kind
   */
  abstract C read(Entry entry);

  /**
   * Refuses a command that must not get into the log; batches have been checked before.
   *
   * @throws RefusedException as {@link ReplicatedState#admit}
   */
  abstract void check(C command);

  /** The highest feature level of entries that every node is known to read; from any thread. */
  public abstract int levelOfCluster();

  abstract Outcome<X> decide(Store store, long term, long index, long nowMillis, C command);

  /** Lets the changes of an entry show in memory, after they have been written. */
  abstract void show(List<X> changes, long index, EntryBody body);

  /** The outcome of an entry that changes nothing. */
  abstract Outcome<X> refuse(long index, C command, Refusal refusal, String detail);

  @Override
  public final void open() throws IOException {
    try {
      watched(
          () -> {
            live.open();
            loadAll();
          });
    } catch (IOException | RuntimeException e) {
      live.close();
      throw e;
    }
  }

  private void loadAll() {
    Store store = live.store();
    StateNote note = StateNote.decode(store.appliedNote());
    if (note.level() > levelRead) {
      throw new UnreadableEntryException(
          "the state of log group " + name + " needs " + advice(note.level()), null);
    }
    load(store);
    level = note.level();
    appliedIndex = store.appliedIndex();
    appliedTerm = store.appliedTerm();
    digests.begin(appliedIndex, note.digest());
  }

  private String advice(int needed) {
    return String.format(
        "feature level %s, and this node of version %s reads up to level %s: start it with the "
            + "version that the other nodes run",
        needed, BuildVersion.number(), levelRead);
  }

  @Override
  public final void admit(ByteBuffer head) {
    int needed = Entry.level(head);
    if (needed > levelRead) {
      throw missing(needed);
    }
    Entry entry = Entry.read(head);
    C command = entry.type() == Entry.APPEND ? null : read(entry);
    if (command != null) {
      check(command);
    }
    if (needed > levelOfCluster() && !raisesTo(command, needed)) {
      throw missing(needed);
    }
  }

  /**
   * Refuses entries that not every node of the cluster can read.
   *
   * @throws RefusedException UNAVAILABLE
   */
  public final void requireLevel(int needed) {
    if (needed > levelRead || needed > levelOfCluster()) {
      throw missing(needed);
    }
  }

  private RefusedException missing(int needed) {
    return UNAVAILABLE.error(
        "this needs feature level %s, and the cluster is at level %s until every node "
            + "runs a version that reads it, without -D%s",
        needed, levelOfCluster(), FeatureLevel.MAX_PROPERTY);
  }

  /** Whether the command is the one that takes the cluster to the level. */
  boolean raisesTo(C command, int wanted) {
    return false;
  }

  @Override
  public final ByteBuffer apply(long term, long index, ByteBuffer head, EntryBody body) {
    if (index <= appliedIndex) {
      checkTerm(term, index);
      return NOTHING;
    }
    try {
      return applyNew(term, index, head, body);
    } catch (UncheckedIOException e) {
      DamagedStateException damage = damage(e);
      throw damage == null ? e : new UncheckedIOException(damage);
    }
  }

  /**
   * After a restart the log replays entries that the state has applied. An entry of another term
   * shows that the state has applied an entry that was never committed.
   */
  private void checkTerm(long term, long index) {
    if (index == appliedIndex && term != appliedTerm) {
      throw new IllegalStateException(
          String.format(
              "the state has entry %s of term %s, and the log has one of term %s: delete the "
                  + "directory live/%s, and the state is made again from its snapshot and the log",
              index, appliedTerm, term, name));
    }
  }

  private ByteBuffer applyNew(long term, long index, ByteBuffer bytes, EntryBody body) {
    int needed = readable(index, () -> Entry.level(bytes));
    if (needed > levelRead) {
      throw new UnreadableEntryException("log entry " + index + " needs " + advice(needed), null);
    }
    Entry entry = readable(index, () -> Entry.read(bytes));
    C command = readable(index, () -> read(entry));
    Store store = live.store();
    int nextLevel = Math.max(level, needed);
    Outcome<X> outcome = decided(store, term, index, entry.nowMillis(), command);
    try {
      outcome = written(store, term, index, command, outcome, nextLevel);
    } catch (IOException e) {
      throw new UncheckedIOException("log entry " + index + " could not be written", e);
    }
    level = nextLevel;
    appliedIndex = index;
    appliedTerm = term;
    show(outcome.changes(), index, body);
    return outcome.reply();
  }

  private static <T> T readable(long index, Supplier<T> reading) {
    try {
      return reading.get();
    } catch (RefusedException refused) {
      throw new UnreadableEntryException(
          String.format(
              "log entry %s cannot be read by this version (%s): start this node with the "
                  + "version that the other nodes run",
              index, refused.getMessage()),
          refused);
    }
  }

  private Outcome<X> decided(Store store, long term, long index, long nowMillis, C command) {
    try {
      return decide(store, term, index, nowMillis, command);
    } catch (MalformedException malformed) {
      // The command was readable, so a record in this node's store is not.
      damaged("a record of the state cannot be read: " + malformed.getMessage());
      throw new IllegalStateException("a record of the state cannot be read", malformed);
    } catch (RefusedException refused) {
      return refuse(index, command, refused.refusal(), refused.getMessage());
    } catch (UncheckedIOException broken) {
      throw broken;
    } catch (RuntimeException bug) {
      return failed(index, command, bug);
    }
  }

  private Outcome<X> written(
      Store store, long term, long index, C command, Outcome<X> outcome, int nextLevel)
      throws IOException {
    try (DigestingWrite write = new DigestingWrite(store.begin(), index)) {
      try {
        outcome.changes().forEach(change -> change.write(write));
      } catch (UncheckedIOException broken) {
        throw broken;
      } catch (RuntimeException bug) {
        write.close();
        return written(store, term, index, command, failed(index, command, bug), nextLevel);
      }
      long digest = write.digest();
      StateNote note = new StateNote(nextLevel, digests.with(digest));
      write.commit(term, index, note.encode());
      digests.applied(index, digest);
    }
    return outcome;
  }

  private Outcome<X> failed(long index, C command, RuntimeException bug) {
    failedDecisions.increment();
    LOG.error(
        "log group {}: entry {} is refused on every node, because deciding about it failed: this is"
            + " a bug, please report it",
        name,
        index,
        bug);
    return refuse(
        index,
        command,
        INTERNAL,
        String.format(
            "a bug in Evenkeel: deciding about log entry %s of %s failed with %s; nothing "
                + "changed",
            index, name, bug.getClass().getSimpleName()));
  }

  /** Entries that were refused because deciding about them failed, since the node started. */
  public final long failedDecisions() {
    return failedDecisions.sum();
  }

  @Override
  public final long appliedIndex() {
    return appliedIndex;
  }

  @Override
  public final long appliedTerm() {
    return appliedTerm;
  }

  /** What the entries did to the state, to be compared with another replica's; from any thread. */
  public final StateDigest digest() {
    return digests.now();
  }

  /** The highest {@link FeatureLevel} of all entries applied; from any thread. */
  public final int level() {
    return level;
  }

  @Override
  public final void snapshot(Path directory) throws IOException {
    Files.createDirectory(directory);
    watched(() -> live.store().checkpoint(directory.resolve(STORE)));
    EntryBodies bodies = bodies();
    if (bodies != null) {
      bodies.link(directory.resolve(BODIES), appliedIndex);
    }
  }

  @Override
  public final void restore(Path directory) throws IOException {
    watched(
        () ->
            live.replace(directory.resolve(STORE), () -> restoreBodies(directory), this::loadAll));
  }

  private void restoreBodies(Path directory) throws IOException {
    EntryBodies bodies = bodies();
    if (bodies != null) {
      bodies.restore(directory.resolve(BODIES));
    }
  }

  @Override
  public final void setAside(Path directory) throws IOException {
    live.moveTo(directory.resolve(STORE));
    EntryBodies bodies = bodies();
    if (bodies != null) {
      bodies.setAside(directory.resolve(BODIES));
    }
  }

  /**
   * Compares the files of the store with their checksums, and reports damage. Waits for the disk.
   *
   * @param rate how fast to read
   */
  public final void checkFiles(ByteRate rate) throws IOException {
    // The store may be replaced meanwhile: then its files are gone, and do not count.
    Store store = read(now -> now);
    watched(() -> store.checkFiles(rate));
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
    try {
      return live.read(reader);
    } catch (UncheckedIOException e) {
      reportIfDamaged(e);
      throw e;
    }
  }
}
