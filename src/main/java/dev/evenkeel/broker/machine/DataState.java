package dev.evenkeel.broker.machine;

import static dev.evenkeel.protocol.Refusal.WRONG_VERSION;

import dev.evenkeel.broker.decide.AppendDecider;
import dev.evenkeel.broker.decide.CancelDecider;
import dev.evenkeel.broker.decide.Decision;
import dev.evenkeel.broker.decide.DueDecider;
import dev.evenkeel.broker.decide.FailureDecider;
import dev.evenkeel.broker.decide.LeaseDecider;
import dev.evenkeel.broker.decide.ProducerDecider;
import dev.evenkeel.broker.decide.RetainDecider;
import dev.evenkeel.broker.decide.ShardDecider;
import dev.evenkeel.broker.state.BatchPlace;
import dev.evenkeel.broker.state.Change;
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
import java.util.Objects;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.BiConsumer;
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
  sealed interface Request {}

  private record Batches(List<AppendHead.Item> items) implements Request {}

  private record Single(DataCommand command) implements Request {}

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

  private FailureDecider failures(Store store, LogTime time) {
    return new FailureDecider(tables, store, time, retriesMax());
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
      ByteBuffer content =
          bodies instanceof SegmentBodies files ? files.segments().readPart(place.index()) : null;
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
    if (request instanceof Single single) {
      single.command().check();
      if (single.command() instanceof DataCommand.RecordOutcomes record) {
        MessageCodec.checkCopies(record.outcomes());
      }
    }
  }

  /**
   * All nodes read the level of the entries that are here, even before this node knows the
   * cluster's level.
   */
  @Override
  public int levelOfCluster() {
    return Math.max(level(), levelOfCluster.getAsInt());
  }

  @Override
  Outcome<Change> decide(Store store, long index, long nowMillis, Request request) {
    LogTime time = tables.timeAt(nowMillis);
    if (request instanceof Batches batches) {
      AppendDecider decider = new AppendDecider(tables, time, index, level());
      List<Result> results = decider.decide(batches.items());
      return new Outcome<>(timed(time, decider.changes()), encode(index, results));
    }
    Decision<Change> decision = decide(store, index, ((Single) request).command(), time);
    return Outcome.of(timed(time, decision.changes()), decision.reply());
  }

  private static List<Change> timed(LogTime time, List<Change> changes) {
    List<Change> all = new ArrayList<>(changes.size() + 1);
    all.add(new Change.PutTime(time));
    all.addAll(changes);
    return all;
  }

  private Decision<Change> decide(Store store, long index, DataCommand command, LogTime time) {
    if (command instanceof DataCommand.Commit c) {
      return new LeaseDecider(tables, store).commit(c);
    } else if (command instanceof DataCommand.CommitMany c) {
      return new LeaseDecider(tables, store).commit(c);
    } else if (command instanceof DataCommand.Grant c) {
      return new LeaseDecider(tables, store).grant(c, level());
    } else if (command instanceof DataCommand.OpenLease c) {
      return new LeaseDecider(tables, store).open(c);
    } else if (command instanceof DataCommand.SetDrain c) {
      return new LeaseDecider(tables, store).drain(c);
    } else if (command instanceof DataCommand.TakeSteps c) {
      return new LeaseDecider(tables, store).steps(c, level());
    } else if (command instanceof DataCommand.Release c) {
      return new LeaseDecider(tables, store).release(c, level());
    } else if (command instanceof DataCommand.ForgetLeases c) {
      return new LeaseDecider(tables, store).forget(c, level());
    } else if (command instanceof DataCommand.OpenProducer c) {
      return new ProducerDecider(tables, time.millis()).open(c);
    } else if (command instanceof DataCommand.OpenShards c) {
      return new ShardDecider(tables, level()).open(c);
    } else if (command instanceof DataCommand.ConfigureShards c) {
      return new ShardDecider(tables, level()).configure(c);
    } else if (command instanceof DataCommand.DropShards c) {
      return new ShardDecider(tables, level()).drop(c);
    } else if (command instanceof DataCommand.SealShards c) {
      return new ShardDecider(tables, level()).seal(c);
    } else if (command instanceof DataCommand.DropDelayed c) {
      return new DueDecider(tables, store, time, level()).drop(c);
    } else if (command instanceof DataCommand.DropSealed c) {
      return new ShardDecider(tables, level()).dropSealed(c);
    } else if (command instanceof DataCommand.RecordOutcomes c) {
      return failures(store, time).record(c);
    } else if (command instanceof DataCommand.ReplayDeadLetters c) {
      return failures(store, time).replay(c);
    } else if (command instanceof DataCommand.DropDeadLetters c) {
      return failures(store, time).drop(c);
    } else if (command instanceof DataCommand.DeliverDue c) {
      return new DueDecider(tables, store, time, level()).decide(c);
    } else if (command instanceof DataCommand.CancelDelayed c) {
      return new CancelDecider(tables, store, index).decide(c);
    } else if (command instanceof DataCommand.ResetLease c) {
      return new LeaseDecider(tables, store).reset(c);
    } else if (command instanceof DataCommand.SetPublisher c) {
      return new LeaseDecider(tables, store).publisher(c);
    } else if (command instanceof DataCommand.OpenPublisher c) {
      return new ProducerDecider(tables, time.millis()).open(c);
    } else if (command instanceof DataCommand.Retain) {
      return new RetainDecider(tables, store, time.millis(), level()).decide();
    } else if (command instanceof DataCommand.RaiseFeatureLevel
        || command instanceof DataCommand.FillLog) {
      return new Decision<>(List.of(), Reply.DONE);
    }
    throw new IllegalStateException("no decider handles " + command);
  }

  @Override
  Outcome<Change> refuse(long index, Request request, Refusal refusal, String detail) {
    if (request instanceof Batches batches) {
      Result refused = new Result(refusal, 0);
      List<Result> all = Collections.nCopies(batches.items().size(), refused);
      return new Outcome<>(List.of(), encode(index, all));
    }
    return Outcome.of(List.of(), Reply.refused(refusal, detail));
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
      Lease former = former(change);
      change.show(tables);
      if (change.frees()) {
        freeingChanges.incrementAndGet();
      }
      callListeners(change, former);
    }
    if (tables.delays().nextDueMillis() != due) {
      listeners.forEach(DataListener::nextDueChanged);
    }
  }

  private Lease former(Change change) {
    if (change instanceof Change.PutLease put) {
      return tables.lease(put.lease().group(), put.lease().shard());
    }
    if (change instanceof Change.RemoveLease removed) {
      LeaseKey key = removed.key();
      return tables.lease(key.group(), key.shard());
    }
    return null;
  }

  private void callListeners(Change change, Lease former) {
    if (change instanceof Change.PutShard put) {
      each(DataListener::shardChanged, put.shard());
    } else if (change instanceof Change.RemoveShard removed) {
      each(DataListener::shardChanged, removed.shard());
    } else if (change instanceof Change.RemoveLease) {
      each(DataListener::leaseForgotten, former);
    } else if (change instanceof Change.PutLease put && !onlyCommitted(former, put.lease())) {
      each(DataListener::leaseChanged, put.lease());
    } else if (change instanceof Change.PutFailures put && put.replayed()) {
      each(DataListener::retriesAdded, put.key());
    }
  }

  private boolean onlyCommitted(Lease former, Lease next) {
    return former != null
        && former.epoch() == next.epoch()
        && former.owned() == next.owned()
        && former.stage() == next.stage()
        && Objects.equals(former.drain(), next.drain());
  }

  private <T> void each(BiConsumer<DataListener, T> call, T argument) {
    listeners.forEach(listener -> call.accept(listener, argument));
  }
}
