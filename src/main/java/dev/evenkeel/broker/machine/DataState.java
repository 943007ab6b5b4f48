package dev.evenkeel.broker.machine;

import static dev.evenkeel.protocol.Refusal.WRONG_VERSION;

import dev.evenkeel.broker.decide.AppendDecider;
import dev.evenkeel.broker.decide.DataDecision;
import dev.evenkeel.broker.decide.Decision;
import dev.evenkeel.broker.state.BatchPlace;
import dev.evenkeel.broker.state.Change;
import dev.evenkeel.broker.state.DataListener;
import dev.evenkeel.broker.state.DataTables;
import dev.evenkeel.broker.state.IndexEntry;
import dev.evenkeel.broker.state.KeptPart;
import dev.evenkeel.broker.state.LeaseKey;
import dev.evenkeel.broker.state.LogTime;
import dev.evenkeel.broker.state.TailCache;
import dev.evenkeel.broker.state.TailMemory;
import dev.evenkeel.log.EntryBodies;
import dev.evenkeel.log.EntryBody;
import dev.evenkeel.protocol.DataCommand;
import dev.evenkeel.protocol.Lease;
import dev.evenkeel.protocol.Limits;
import dev.evenkeel.protocol.Outcome;
import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.Reply;
import dev.evenkeel.protocol.Shard;
import dev.evenkeel.protocol.wire.AppendHead;
import dev.evenkeel.protocol.wire.AppendResults;
import dev.evenkeel.protocol.wire.AppendResults.Result;
import dev.evenkeel.protocol.wire.ByteReader;
import dev.evenkeel.protocol.wire.CommandCodec;
import dev.evenkeel.protocol.wire.Entry;
import dev.evenkeel.protocol.wire.FeatureLevel;
import dev.evenkeel.protocol.wire.MessageCodec;
import dev.evenkeel.storage.Store;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.IntSupplier;

/** State machine of a data log group: shards, leases and what is remembered of producers. */
public class DataState extends StoredState<DataState.Request, Change> {
  private final TailCache tail;
  private final EntryBodies bodies;
  private final List<DataListener> listeners = new CopyOnWriteArrayList<>();
  private final IntSupplier levelOfCluster;
  private final AtomicLong freeingChanges = new AtomicLong();
  private volatile DataTables tables = new DataTables();

  /** What an entry asks for. */
  sealed interface Request {
    /** Refuses what no log entry may ask for. */
    default void check() {}

    Outcome<Change> decide(DataState state, Store store, long index, LogTime time);

    Outcome<Change> refused(long index, Refusal refusal, String detail);
  }

  private record Batches(List<AppendHead.Item> items) implements Request {
    @Override
    public Outcome<Change> decide(DataState state, Store store, long index, LogTime time) {
      AppendDecider decider = new AppendDecider(state.tables, time, index, state.level());
      List<Result> results = decider.decide(items);
      return new Outcome<>(timed(time, decider.changes()), encode(index, results));
    }

    @Override
    public Outcome<Change> refused(long index, Refusal refusal, String detail) {
      List<Result> all = Collections.nCopies(items.size(), new Result(refusal, 0));
      return new Outcome<>(List.of(), encode(index, all));
    }
  }

  private record Single(DataCommand command) implements Request {
    @Override
    public void check() {
      command.check();
      MessageCodec.checkCopies(command.outcomes());
    }

    @Override
    public Outcome<Change> decide(DataState state, Store store, long index, LogTime time) {
      Decision<Change> decision =
          new DataDecision(state.tables, store, index, time, state.level(), state.retriesMax())
              .of(command);
      return Outcome.of(timed(time, decision.changes()), decision.reply());
    }

    @Override
    public Outcome<Change> refused(long index, Refusal refusal, String detail) {
      return Outcome.of(List.of(), Reply.refused(refusal, detail));
    }
  }

  /**
   * @param directory of the live store
   * @param bodies of the log's entries: batches as they came, see {@link
   *     dev.evenkeel.protocol.wire.AppendBody}
   * @param newest memory of the node for the newest batches
   * @param levelRead the highest {@link FeatureLevel} that this node reads
   * @param levelOfCluster the highest that every node reads
   */
  public DataState(
      Path directory,
      StoreOpener opener,
      EntryBodies bodies,
      TailMemory newest,
      int levelRead,
      IntSupplier levelOfCluster) {
    super(directory, opener, levelRead);
    this.bodies = bodies;
    tail = new TailCache(newest);
    this.levelOfCluster = levelOfCluster;
  }

  /** Most messages of a group and shard that wait for another attempt. */
  int retriesMax() {
    return Limits.RETRIES_MAX;
  }

  /** The state in memory; another one after a snapshot was restored. */
  public DataTables tables() {
    return tables;
  }

  public TailCache tail() {
    return tail;
  }

  @Override
  public EntryBodies bodies() {
    return bodies;
  }

  /**
   * Reads the bytes of batches, in their order, not compared with their checksums.
   *
   * @param into a buffer for each, as long as the batch
   * @return how many were filled; the next one is not there
   */
  public int read(List<IndexEntry> entries, List<ByteBuffer> into) {
    List<EntryBodies.Part> parts = new ArrayList<>(entries.size());
    for (int i = 0; i < entries.size(); i++) {
      BatchPlace place = entries.get(i).place();
      parts.add(new EntryBodies.Part(place.index(), place.at(), into.get(i)));
    }
    try {
      return bodies.read(parts);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** The bytes of a batch, not compared with their checksum; null if they are not there. */
  public byte[] bytes(IndexEntry entry) {
    return bytes(entry.place(), entry.bytes());
  }

  /**
   * The same for whatever refers to the batch.
   *
   * @param length of the batch in bytes
   */
  public byte[] bytes(BatchPlace place, int length) {
    byte[] bytes = new byte[length];
    try {
      return bodies.read(place.index(), place.at(), ByteBuffer.wrap(bytes)) ? bytes : null;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /**
   * What is left of the body that has a batch; null if the body is whole, or there is none, or it
   * is damaged.
   */
  public KeptPart part(BatchPlace place) {
    try {
      ByteBuffer content = bodies.readPart(place.index());
      return content == null ? null : KeptPart.decode(content);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Whether the whole body of a log entry is there, undamaged. Waits for the disk. */
  public boolean holdsBody(long index) {
    try {
      return bodies.read(index) != null;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Grows with each change after which fewer bodies may be needed, see {@link BodyUse}. */
  public long freeingChanges() {
    return freeingChanges.get();
  }

  /** From now on {@code listener} hears of what is applied. */
  public void listen(DataListener listener) {
    listeners.add(listener);
  }

  public void unlisten(DataListener listener) {
    listeners.remove(listener);
  }

  /**
   * The lease with the bytes of its state, or null if there is none. Reads the store: not on an
   * event loop.
   */
  public Lease leaseWithState(String group, Shard shard) {
    return read(store -> tables.leaseWithState(store, new LeaseKey(shard, group)));
  }

  @Override
  void load(Store store) {
    tail.clear();
    tables = DataTables.load(store);
    freeingChanges.incrementAndGet();
    listeners.forEach(DataListener::everythingChanged);
  }

  @Override
  Request read(Entry entry) {
    return switch (entry.type()) {
      case Entry.APPEND -> new Batches(AppendHead.read(entry.body()));
      case Entry.DATA_COMMAND -> new Single(CommandCodec.data(new ByteReader(entry.body())));
      default -> throw WRONG_VERSION.error("entry of type " + entry.type() + " in a data group");
    };
  }

  @Override
  void check(Request request) {
    request.check();
  }

  /**
   * All nodes read the level of the entries that are here, even before this node knows the
   * cluster's level.
   */
  @Override
  public int levelOfCluster() {
    return Math.max(Math.max(FeatureLevel.OLDEST, level()), levelOfCluster.getAsInt());
  }

  @Override
  Outcome<Change> decide(Store store, long term, long index, long nowMillis, Request request) {
    return request.decide(this, store, index, tables.timeAt(nowMillis));
  }

  private static List<Change> timed(LogTime time, List<Change> changes) {
    List<Change> all = new ArrayList<>(changes.size() + 1);
    all.add(new Change.PutTime(time));
    all.addAll(changes);
    return all;
  }

  @Override
  Outcome<Change> refuse(long index, Request request, Refusal refusal, String detail) {
    return request.refused(index, refusal, detail);
  }

  private static ByteBuffer encode(long index, List<Result> results) {
    return ByteBuffer.wrap(new AppendResults(index, results).encode());
  }

  @Override
  void show(List<Change> changes, long index, EntryBody body) {
    // The batches first: whoever sees a shard's new end must find them.
    tail.follow(changes, index, body);
    long due = tables.delays().nextDueMillis();
    for (Change change : changes) {
      Lease former = change.former(tables);
      change.show(tables);
      if (change.frees()) {
        freeingChanges.incrementAndGet();
      }
      for (DataListener each : listeners) {
        change.tell(each, former);
      }
    }
    if (tables.delays().nextDueMillis() != due) {
      listeners.forEach(DataListener::nextDueChanged);
    }
  }
}
