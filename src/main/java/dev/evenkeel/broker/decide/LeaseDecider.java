package dev.evenkeel.broker.decide;

import dev.evenkeel.broker.state.Change;
import dev.evenkeel.broker.state.DataTables;
import dev.evenkeel.broker.state.LeaseKey;
import dev.evenkeel.broker.state.ShardRecord;
import dev.evenkeel.model.DataCommand;
import dev.evenkeel.model.Lease;
import dev.evenkeel.model.Limits;
import dev.evenkeel.model.Names;
import dev.evenkeel.model.Refusal;
import dev.evenkeel.model.RefusedException;
import dev.evenkeel.model.Reply;
import dev.evenkeel.model.Shard;
import dev.evenkeel.model.StartAt;
import dev.evenkeel.store.Store;
import java.util.ArrayList;
import java.util.List;

/**
 * Decides about leases. The epoch only grows, the committed offset never goes back, and whoever
 * names another epoch than the lease's changes nothing.
 *
 * <p>Replies carry leases without the bytes of their state.
 */
public final class LeaseDecider {
  /** Longest id of a member's run. */
  static final int INSTANCE_CHARS_MAX = 4 * Limits.NAME_CHARS_MAX;

  private final DataTables tables;
  private final Store store;

  public LeaseDecider(DataTables tables, Store store) {
    this.tables = tables;
    this.store = store;
  }

  public Decision<Change> grant(DataCommand.Grant command) {
    Names.check("group", command.group());
    if (command.groupTerm() == 0) {
      Names.check("member", command.owner());
    } else {
      Names.checkHolder(command.owner());
    }
    String instance = command.instance();
    if (instance == null || instance.isEmpty() || instance.length() > INSTANCE_CHARS_MAX) {
      return Decision.refused(
          Refusal.INVALID, "a grant needs an instance of 1 to " + INSTANCE_CHARS_MAX + " letters");
    }
    if (command.groupTerm() < 0) {
      return Decision.refused(
          Refusal.INVALID, "group term of " + command.groupTerm() + ": it cannot be negative");
    }
    shard(command.shard());
    Lease lease = tables.lease(command.group(), command.shard());
    if (lease == null) {
      long start = StartFinder.find(store, tables, command.shard(), command.start());
      lease = new Lease(command.group(), command.shard(), 0, null, null, start, -1, null, null);
    }
    if (lease.epoch() != command.expectedEpoch()) {
      return fenced(lease, command.expectedEpoch());
    }
    if (command.groupTerm() < lease.groupTerm()) {
      return Decision.refused(
          Refusal.FENCED,
          "group term "
              + command.groupTerm()
              + " of "
              + lease.group()
              + ":"
              + lease.shard()
              + ": the lease is at group term "
              + lease.groupTerm());
    }
    return lease(lease.granted(command.owner(), instance, command.groupTerm()));
  }

  public Decision<Change> drain(DataCommand.SetDrain command) {
    Lease lease = existing(command.group(), command.shard());
    if (lease.epoch() != command.expectedEpoch()) {
      return fenced(lease, command.expectedEpoch());
    }
    return lease(lease.draining(command.drain()));
  }

  public Decision<Change> commit(DataCommand.Commit command) {
    Lease lease = existing(command.group(), command.shard());
    if (!lease.heldAt(command.epoch())) {
      return fenced(lease, command.epoch());
    }
    checkOffset("committed offset", command.offset(), command.shard());
    if (command.state() != null && command.state().length > Limits.STATE_BYTES_MAX) {
      return stateTooLarge(command.state());
    }
    boolean first = command.stateOffset() >= 0 && lease.state() == null;
    boolean newer = command.state() != null && command.stateOffset() > lease.stateOffset();
    if (first || command.state() != null) {
      checkOffset("state offset", command.stateOffset(), command.shard());
    }
    if (command.offset() <= lease.committed() && !first && !newer) {
      return Decision.unchanged(Reply.DONE);
    }
    Lease next = lease.committedAt(Math.max(lease.committed(), command.offset()));
    if (!first && !newer) {
      return progressed(next, new Change.PutLease(next));
    }
    next = next.withStateAt(command.stateOffset());
    LeaseKey key = new LeaseKey(command.shard(), command.group());
    if (command.state() == null) {
      return Decision.of(
          List.of(new Change.PutLease(next), new Change.PutLeaseState(key, new byte[0])));
    }
    return progressed(
        next, new Change.PutLease(next), new Change.PutLeaseState(key, command.state()));
  }

  /** Sets the group to another place, without an owner, at the next epoch and generation. */
  public Decision<Change> reset(DataCommand.ResetLease command) {
    Names.check("group", command.group());
    Shard shard = command.shard();
    ShardRecord record = shard(shard);
    Lease lease = tables.lease(command.group(), shard);
    if (lease == null) {
      lease = new Lease(command.group(), shard, 0, null, null, record.start(), -1, null, null);
    }
    if (lease.epoch() != command.expectedEpoch()) {
      return fenced(lease, command.expectedEpoch());
    }
    StartAt to = command.to();
    if (to.kind() == StartAt.Kind.OFFSET
        && (to.value() < record.start() || to.value() > record.end())) {
      return Decision.refused(
          Refusal.OFFSET_OUT_OF_RANGE,
          "offset "
              + to.value()
              + ": the shard has "
              + record.start()
              + " to "
              + record.end()
              + ", the next message");
    }
    Lease next = lease.reset(StartFinder.find(store, tables, shard, to));
    LeaseKey key = new LeaseKey(shard, command.group());
    List<Change> changes = new ArrayList<>();
    changes.add(new Change.PutLease(next));
    changes.add(new Change.RemoveLeaseState(key));
    changes.addAll(new FailureDecider(tables, store, 0).reset(next));
    return new Decision<>(changes, new Reply.OfLease(next));
  }

  public Decision<Change> publisher(DataCommand.SetPublisher command) {
    Lease lease = existing(command.group(), command.shard());
    if (!lease.heldAt(command.epoch())) {
      return fenced(lease, command.epoch());
    }
    if (command.producerId() < 1) {
      return Decision.refused(
          Refusal.INVALID, "producer " + command.producerId() + ": ids count from 1");
    }
    return lease.generation().producerId() > 0
        ? Decision.unchanged(new Reply.OfLease(lease))
        : lease(lease.publishingAs(command.producerId()));
  }

  private static Decision<Change> stateTooLarge(byte[] state) {
    return Decision.refused(
        Refusal.TOO_LARGE,
        "state of " + state.length + " bytes: at most " + Limits.STATE_BYTES_MAX);
  }

  public Decision<Change> release(DataCommand.Release command) {
    Lease lease = existing(command.group(), command.shard());
    if (!lease.owned() && lease.epoch() == command.epoch()) {
      return Decision.unchanged(Reply.DONE);
    }
    if (!lease.heldAt(command.epoch())) {
      return fenced(lease, command.epoch());
    }
    checkOffset("released offset", command.offset(), command.shard());
    long committed = Math.max(lease.committed(), command.offset());
    byte[] state = command.state();
    if (state == null) {
      if (command.stateOffset() != -1) {
        return Decision.refused(
            Refusal.INVALID, "a state offset without a state: give both, or -1 and none");
      }
      Lease next = lease.released(committed, lease.stateOffset(), lease.state());
      return progressed(next, new Change.PutLease(next));
    }
    if (state.length > Limits.STATE_BYTES_MAX) {
      return stateTooLarge(state);
    }
    checkOffset("state offset", command.stateOffset(), command.shard());
    LeaseKey key = new LeaseKey(command.shard(), command.group());
    Lease next = lease.released(committed, command.stateOffset(), new byte[0]);
    return progressed(next, new Change.PutLease(next), new Change.PutLeaseState(key, state));
  }

  public Decision<Change> forget(DataCommand.ForgetLeases command) {
    List<Change> changes = new ArrayList<>();
    tables.leasesOf(command.group()).forEach(key -> changes.add(new Change.RemoveLease(key)));
    tables.failuresOf(command.group()).forEach(key -> changes.add(new Change.RemoveFailures(key)));
    changes.addAll(new PublisherDecider(tables, 0).forgetGroup(command.group()));
    return Decision.of(changes);
  }

  /** With what the progress makes superfluous of failures. */
  private Decision<Change> progressed(Lease next, Change... changes) {
    List<Change> all = new ArrayList<>(List.of(changes));
    all.addAll(new FailureDecider(tables, store, 0).progressed(next));
    return Decision.of(all);
  }

  private static Decision<Change> lease(Lease next) {
    return new Decision<>(List.of(new Change.PutLease(next)), new Reply.OfLease(next));
  }

  private ShardRecord shard(Shard shard) {
    ShardRecord record = tables.shard(shard);
    if (record == null) {
      throw new RefusedException(Refusal.UNKNOWN_SHARD, "there is no shard " + shard);
    }
    return record;
  }

  private Lease existing(String group, Shard shard) {
    shard(shard);
    Lease lease = group == null ? null : tables.lease(group, shard);
    if (lease == null) {
      throw new RefusedException(
          Refusal.FENCED, "group '" + group + "' has no lease on shard " + shard);
    }
    return lease;
  }

  private void checkOffset(String what, long offset, Shard shard) {
    long end = shard(shard).end();
    if (offset < 0 || offset > end) {
      throw new RefusedException(
          Refusal.INVALID, what + " " + offset + " of shard " + shard + ": use 0 to " + end);
    }
  }

  private static Decision<Change> fenced(Lease lease, long epoch) {
    return Decision.refused(
        Refusal.FENCED,
        "epoch "
            + epoch
            + " of "
            + lease.group()
            + ":"
            + lease.shard()
            + (lease.owned() || lease.epoch() != epoch
                ? ": the lease is at epoch " + lease.epoch()
                : ": the lease has no owner"));
  }
}
