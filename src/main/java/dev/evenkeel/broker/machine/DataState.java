package dev.evenkeel.broker.machine;

import dev.evenkeel.broker.decide.AppendDecider;
import dev.evenkeel.broker.decide.Decision;
import dev.evenkeel.broker.decide.DueDecider;
import dev.evenkeel.broker.decide.FailureDecider;
import dev.evenkeel.broker.decide.LeaseDecider;
import dev.evenkeel.broker.decide.ProducerDecider;
import dev.evenkeel.broker.decide.PublisherDecider;
import dev.evenkeel.broker.decide.RetainDecider;
import dev.evenkeel.broker.decide.ShardDecider;
import dev.evenkeel.broker.state.Change;
import dev.evenkeel.broker.state.DataTables;
import dev.evenkeel.broker.state.LeaseKey;
import dev.evenkeel.broker.state.LogTime;
import dev.evenkeel.broker.state.StoredLease;
import dev.evenkeel.broker.state.TailCache;
import dev.evenkeel.model.DataCommand;
import dev.evenkeel.model.Lease;
import dev.evenkeel.model.Refusal;
import dev.evenkeel.model.RefusedException;
import dev.evenkeel.model.Reply;
import dev.evenkeel.model.Shard;
import dev.evenkeel.store.Store;
import dev.evenkeel.wire.AppendBody;
import dev.evenkeel.wire.AppendResults;
import dev.evenkeel.wire.AppendResults.Result;
import dev.evenkeel.wire.ByteReader;
import dev.evenkeel.wire.CommandCodec;
import dev.evenkeel.wire.Entry;
import dev.evenkeel.wire.ReplyCodec;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.BiConsumer;

/**
 * State machine of a data group: shards, leases and what is remembered of producers.
 *
 * <p>It keeps views of the entries that it appends from (see {@link TailCache}): an entry's bytes
 * must stay as they are after {@link #apply}, as long as something refers to them.
 */
public final class DataState extends StoredState {
  private final TailCache tail;
  private final List<DataListener> listeners = new CopyOnWriteArrayList<>();
  private volatile DataTables tables = new DataTables();

  /**
   * @param directory of the live store
   * @param tailBytesMax how much of the newest batches to hold in memory
   */
  public DataState(Path directory, StoreOpener opener, long tailBytesMax) {
    super(directory, opener);
    tail = new TailCache(tailBytesMax);
  }

  /** The state in memory; another one after a snapshot was restored. */
  public DataTables tables() {
    return tables;
  }

  public TailCache tail() {
    return tail;
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
    Lease lease = read(store -> StoredLease.read(store, new LeaseKey(shard, group)));
    return lease == null ? null : tables.current(lease);
  }

  @Override
  void load(Store store) {
    tail.clear();
    tables = DataTables.load(store);
    listeners.forEach(DataListener::everythingChanged);
  }

  @Override
  Outcome decide(Store store, long index, Entry entry) {
    LogTime time = tables.timeAt(entry.nowMillis());
    if (entry.type() == Entry.APPEND) {
      AppendDecider decider = new AppendDecider(tables, time);
      List<Result> results = decider.decide(AppendBody.read(entry.body()));
      byte[] reply = new AppendResults(index, results).encode();
      return new Decided(at(time, decider.changes()), ByteBuffer.wrap(reply));
    }
    if (entry.type() != Entry.DATA_COMMAND) {
      throw new RefusedException(
          Refusal.WRONG_VERSION, "entry of type " + entry.type() + " in a data group");
    }
    DataCommand command = CommandCodec.data(new ByteReader(entry.body()));
    Decision<Change> decision = decide(store, command, time);
    return new Decided(at(time, decision.changes()), encode(decision.reply()));
  }

  private static List<Change> at(LogTime time, List<Change> changes) {
    List<Change> all = new ArrayList<>(changes.size() + 1);
    all.add(new Change.PutTime(time));
    all.addAll(changes);
    return all;
  }

  private Decision<Change> decide(Store store, DataCommand command, LogTime time) {
    if (command instanceof DataCommand.Commit c) {
      return new LeaseDecider(tables, store).commit(c);
    } else if (command instanceof DataCommand.Grant c) {
      return new LeaseDecider(tables, store).grant(c);
    } else if (command instanceof DataCommand.SetDrain c) {
      return new LeaseDecider(tables, store).drain(c);
    } else if (command instanceof DataCommand.Release c) {
      return new LeaseDecider(tables, store).release(c);
    } else if (command instanceof DataCommand.ForgetLeases c) {
      return new LeaseDecider(tables, store).forget(c);
    } else if (command instanceof DataCommand.OpenProducer c) {
      return new ProducerDecider(tables).open(c, time.millis());
    } else if (command instanceof DataCommand.OpenShards c) {
      return new ShardDecider(tables).open(c);
    } else if (command instanceof DataCommand.ConfigureShards c) {
      return new ShardDecider(tables).configure(c);
    } else if (command instanceof DataCommand.DropShards c) {
      return new ShardDecider(tables).drop(c);
    } else if (command instanceof DataCommand.RecordOutcomes c) {
      return new FailureDecider(tables, store, time).record(c);
    } else if (command instanceof DataCommand.ReplayDeadLetters c) {
      return new FailureDecider(tables, store, time).replay(c);
    } else if (command instanceof DataCommand.DropDeadLetters c) {
      return new FailureDecider(tables, store, time).drop(c);
    } else if (command instanceof DataCommand.DeliverDue c) {
      return new DueDecider(tables, store, time).decide(c);
    } else if (command instanceof DataCommand.ResetLease c) {
      return new LeaseDecider(tables, store).reset(c);
    } else if (command instanceof DataCommand.SetPublisher c) {
      return new LeaseDecider(tables, store).publisher(c);
    } else if (command instanceof DataCommand.OpenPublisher c) {
      return new PublisherDecider(tables, time.millis()).open(c);
    }
    return new RetainDecider(tables, store, time.millis()).decide();
  }

  @Override
  Outcome refuse(RefusedException refused) {
    return new Decided(List.of(), encode(Reply.refused(refused.refusal(), refused.getMessage())));
  }

  private static ByteBuffer encode(Reply reply) {
    return ByteBuffer.wrap(ReplyCodec.encode(reply));
  }

  private final class Decided implements Outcome {
    private final List<Change> changes;
    private final ByteBuffer reply;

    Decided(List<Change> changes, ByteBuffer reply) {
      this.changes = changes;
      this.reply = reply;
    }

    @Override
    public void write(Store.Write write) {
      changes.forEach(change -> change.write(write));
    }

    @Override
    public void show() {
      // The batches first: who sees a shard's new end must find them.
      tail.follow(changes);
      long due = tables.delays().nextDueMillis();
      for (Change change : changes) {
        Lease former = former(change);
        change.show(tables);
        tell(change, former);
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

    private void tell(Change change, Lease former) {
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
          && Objects.equals(former.drain(), next.drain());
    }

    private <T> void each(BiConsumer<DataListener, T> call, T argument) {
      listeners.forEach(listener -> call.accept(listener, argument));
    }

    @Override
    public ByteBuffer reply() {
      return reply;
    }
  }
}
