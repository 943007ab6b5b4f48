package dev.evenkeel.broker.decide;

import static dev.evenkeel.protocol.Refusal.FENCED;
import static dev.evenkeel.protocol.Refusal.INVALID;
import static dev.evenkeel.protocol.Refusal.OFFSET_OUT_OF_RANGE;
import static dev.evenkeel.protocol.Refusal.TOO_LARGE;
import static dev.evenkeel.protocol.Refusal.UNKNOWN_SHARD;

import dev.evenkeel.broker.state.Change;
import dev.evenkeel.broker.state.DataTables;
import dev.evenkeel.broker.state.FailureKeys;
import dev.evenkeel.broker.state.LeaseKey;
import dev.evenkeel.broker.state.ShardRecord;
import dev.evenkeel.protocol.DataCommand;
import dev.evenkeel.protocol.Generation;
import dev.evenkeel.protocol.Lease;
import dev.evenkeel.protocol.Limits;
import dev.evenkeel.protocol.MalformedException;
import dev.evenkeel.protocol.Names;
import dev.evenkeel.protocol.RefusedException;
import dev.evenkeel.protocol.Reply;
import dev.evenkeel.protocol.Shard;
import dev.evenkeel.protocol.StartAt;
import dev.evenkeel.protocol.wire.FeatureLevel;
import dev.evenkeel.storage.Store;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Decides about leases. The epoch only grows, the committed offset never goes back, and whoever
 * names another epoch than the lease's changes nothing.
 *
 * <p>Replies carry leases without the bytes of their state.
 */
public record LeaseDecider(DataTables tables, Store store) {
  /**
   * @param level the feature level of the log group
   */
  public Decision<Change> grant(DataCommand.Grant command, int level) {
    command.check();
    ShardRecord record = shard(command.shard());
    Lease lease = expected(command.group(), command.shard(), command.expectedEpoch());
    if (lease == null) {
      long start = StartFinder.find(store, command.shard(), record, command.start());
      lease = fresh(command.group(), command.shard(), start);
    }
    if (level >= FeatureLevel.SUBSCRIPTIONS && lease.finished()) {
      // Who asks has not heard of it. The shards behind this one may have owners already, and these
      // did not wait for a state that an owner of this one would leave.
      return Decision.refused(
          FENCED, "%s:%s is finished: it needs no owner", lease.group(), lease.shard());
    }
    if (command.groupTerm() < lease.groupTerm()) {
      return Decision.refused(
          FENCED,
          "group term %s of %s:%s: the lease is at group term %s",
          command.groupTerm(),
          lease.group(),
          lease.shard(),
          lease.groupTerm());
    }
    if (level >= FeatureLevel.CRASHES) {
      // What the former owner has begun is over in any case.
      lease =
          isDeath(lease, command) ? lease.died(record.end(), firstRetry(lease)) : lease.begun(-1);
    }
    return lease(
        lease.granted(
            command.owner(),
            command.instance(),
            command.groupTerm(),
            command.ownerTimeoutMillis()));
  }

  /**
   * Whether the grant takes the shard from an owner that has died or was taken for stuck, and that
   * may have had a message to handle. An owner that was asked for the shard, and has not released
   * it in time, has not died for that. A level dispatcher handles no messages itself.
   */
  private boolean isDeath(Lease lease, DataCommand.Grant command) {
    return lease.owner() != null
        && lease.drain() == null
        && !lease.owner().startsWith(Names.DISPATCHER_HOLDER)
        && !command.instance().equals(lease.instance())
        && (shard(lease.shard()).end() > lease.committed()
            || tables.failures(new LeaseKey(lease.shard(), lease.group())).anyMoved());
  }

  /** The message that is due first for another attempt; -1: none waits for one. */
  private long firstRetry(Lease lease) {
    FailureKeys keys = new FailureKeys(new LeaseKey(lease.shard(), lease.group()));
    byte[] first =
        new FailureRows(store).first(keys.part(FailureKeys.DUE), keys.part(FailureKeys.DUE + 1));
    return first == null ? -1 : FailureKeys.offset(first);
  }

  /**
   * The lease of that epoch; null for epoch 0 if there is none.
   *
   * @throws RefusedException FENCED if it has another
   */
  private @Nullable Lease expected(String group, Shard shard, long epoch) {
    Lease lease = tables.lease(group, shard);
    if (lease == null && epoch != 0) {
      throw FENCED.error("epoch " + epoch + " of " + group + ":" + shard + ": there is no lease");
    }
    if (lease != null && lease.epoch() != epoch) {
      throw fenced(lease, epoch);
    }
    return lease;
  }

  /**
   * A lease before its first grant. Its epoch is above those of removed leases: their owners must
   * not be taken for its owner.
   */
  private Lease fresh(String group, Shard shard, long start) {
    Generation first = new Generation(tables.generationFloor(), 0);
    return Lease.fresh(group, shard, tables.epochFloor(), start, first);
  }

  /**
   * Each step is taken or refused by itself.
   *
   * @param level the feature level of the log group
   */
  public Decision<Change> steps(DataCommand.TakeSteps command, int level) {
    List<Change> changes = new ArrayList<>();
    List<Reply> replies = new ArrayList<>();
    Set<LeaseKey> seen = new HashSet<>();
    for (DataCommand.Step step : command.steps()) {
      try {
        if (!seen.add(new LeaseKey(step.shard(), step.group()))) {
          throw INVALID.error("a second step of %s:%s", step.group(), step.shard());
        }
        Decision<Change> decision = step(step, level);
        changes.addAll(decision.changes());
        replies.add(decision.reply());
      } catch (MalformedException malformed) {
        throw malformed;
      } catch (RefusedException no) {
        replies.add(Reply.refused(no.refusal(), no.getMessage()));
      }
    }
    return new Decision<>(changes, new Reply.OfSteps(replies));
  }

  private Decision<Change> step(DataCommand.Step step, int level) {
    if (step instanceof DataCommand.Grant grant) {
      return grant(grant, level);
    }
    if (step instanceof DataCommand.OpenLease open) {
      return open(open);
    }
    return step instanceof DataCommand.SetDrain set
        ? drain(set)
        : reset((DataCommand.ResetLease) step);
  }

  /** A lease without an owner, for a group that has subscribed. */
  public Decision<Change> open(DataCommand.OpenLease command) {
    Names.check("group", command.group());
    Shard shard = command.shard();
    ShardRecord record = shard(shard);
    Lease lease = tables.lease(command.group(), shard);
    if (lease != null) {
      return Decision.unchanged(new Reply.OfLease(lease));
    }
    long start = StartFinder.find(store, shard, record, command.start());
    return lease(opened(tables, tables.epochFloor(), command.group(), shard, record, start));
  }

  /**
   * A lease that begins with a subscription. Its epoch is above all that were forgotten: a late
   * request to forget those must not drop it.
   *
   * @param floor no epoch that was removed is above it
   */
  static Lease opened(
      DataTables tables, long floor, String group, Shard shard, ShardRecord record, long start) {
    Generation first = new Generation(tables.generationFloor(), 0);
    Lease lease = Lease.fresh(group, shard, floor + 1, start, first);
    return record.sealed() && start >= record.end() ? lease.at(Lease.Stage.FINISHED) : lease;
  }

  public Decision<Change> drain(DataCommand.SetDrain command) {
    Lease lease = existing(command);
    if (lease.epoch() != command.expectedEpoch()) {
      throw fenced(lease, command.expectedEpoch());
    }
    return lease(lease.draining(command.drain()));
  }

  public Decision<Change> commit(DataCommand.Commit command) {
    Lease lease = owned(command, command.epoch());
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
    byte[] state = command.state() == null ? new byte[0] : command.state();
    return progressed(next, new Change.PutLease(next), new Change.PutLeaseState(key, state));
  }

  /** Each position is taken or refused by itself. */
  public Decision<Change> commit(DataCommand.CommitMany command) {
    List<Change> changes = new ArrayList<>();
    List<Reply.OfCommits.RefusedCommit> refused = new ArrayList<>();
    Set<LeaseKey> seen = new HashSet<>();
    for (int i = 0; i < command.positions().size(); i++) {
      DataCommand.CommitMany.Position position = command.positions().get(i);
      try {
        if (!seen.add(new LeaseKey(position.shard(), position.group()))) {
          throw INVALID.error("a second position of %s:%s", position.group(), position.shard());
        }
        // Without state, a position is taken, or refused with an exception.
        changes.addAll(commit(position.command()).changes());
      } catch (MalformedException malformed) {
        throw malformed;
      } catch (RefusedException no) {
        refused.add(new Reply.OfCommits.RefusedCommit(i, no.refusal(), no.getMessage()));
      }
    }
    return new Decision<>(changes, new Reply.OfCommits(refused));
  }

  /** Sets the group to another place, without an owner, at the next epoch and generation. */
  public Decision<Change> reset(DataCommand.ResetLease command) {
    Names.check("group", command.group());
    Shard shard = command.shard();
    ShardRecord record = shard(shard);
    Lease lease = expected(command.group(), shard, command.expectedEpoch());
    if (lease == null) {
      lease = fresh(command.group(), shard, record.start());
    }
    StartAt to = command.to();
    if (to.kind() == StartAt.Kind.OFFSET
        && (to.value() < record.start() || to.value() > record.end())) {
      return Decision.refused(
          OFFSET_OUT_OF_RANGE,
          "offset %s: the shard has %s to %s, the next message",
          to.value(),
          record.start(),
          record.end());
    }
    Lease next = lease.reset(StartFinder.find(store, shard, record, to));
    LeaseKey key = new LeaseKey(shard, command.group());
    List<Change> changes = new ArrayList<>();
    changes.add(new Change.PutLease(next));
    changes.add(Change.removeLeaseState(key));
    changes.addAll(new FailureDecider(tables, store).reset(next));
    return new Decision<>(changes, new Reply.OfLease(next));
  }

  public Decision<Change> publisher(DataCommand.SetPublisher command) {
    Lease lease = owned(command, command.epoch());
    if (command.producerId() < 1) {
      return Decision.refused(INVALID, "producer " + command.producerId() + ": ids count from 1");
    }
    if (lease.generation().producerId() > 0) {
      return Decision.unchanged(new Reply.OfLease(lease.forOwner()));
    }
    Lease next = lease.publishingAs(command.producerId());
    return new Decision<>(List.of(new Change.PutLease(next)), new Reply.OfLease(next.forOwner()));
  }

  private static Decision<Change> stateTooLarge(byte[] state) {
    return Decision.refused(
        TOO_LARGE, "state of " + state.length + " bytes: at most " + Limits.STATE_BYTES_MAX);
  }

  /**
   * @param level the feature level of the log group
   */
  public Decision<Change> release(DataCommand.Release command, int level) {
    Lease lease = existing(command);
    if (!lease.owned() && lease.epoch() == command.epoch()) {
      return Decision.unchanged(Reply.DONE);
    }
    owned(command, command.epoch());
    checkOffset("released offset", command.offset(), command.shard());
    long committed = Math.max(lease.committed(), command.offset());
    byte[] state = command.state();
    if (state == null) {
      boolean finished =
          command.stateOffset() == DataCommand.Release.FINISHED && shard(command.shard()).sealed();
      if (command.stateOffset() != -1 && !finished) {
        return Decision.refused(
            INVALID, "a state offset without a state: give both, or -1 and none");
      }
      Lease next = next(lease.released(committed, lease.stateOffset(), lease.state()));
      if (finished) {
        next = next.at(stage(next));
      }
      return level >= FeatureLevel.SUBSCRIPTIONS && next.finished() && next.state() != null
          ? finishedWithState(next)
          : progressed(next, new Change.PutLease(next));
    }
    if (state.length > Limits.STATE_BYTES_MAX) {
      return stateTooLarge(state);
    }
    checkOffset("state offset", command.stateOffset(), command.shard());
    LeaseKey key = new LeaseKey(command.shard(), command.group());
    if (level >= FeatureLevel.SUBSCRIPTIONS && state.length == 0 && committed == 0) {
      // That of the beginning: the next owner begins as the first one did.
      Lease next = next(lease.released(committed, -1, null));
      next = next.at(stage(next));
      return progressed(next, new Change.PutLease(next), Change.removeLeaseState(key));
    }
    Lease next = next(lease.released(committed, command.stateOffset(), new byte[0]));
    if (next.stateOffset() >= shard(command.shard()).end()) {
      next = next.at(stage(next));
    }
    return progressed(next, new Change.PutLease(next), new Change.PutLeaseState(key, state));
  }

  /**
   * No message has changed the state since. So it stands for all of them; and if that is the empty
   * one of the beginning, what the shard continues counts, not this shard.
   */
  private Decision<Change> finishedWithState(Lease finished) {
    LeaseKey key = new LeaseKey(finished.shard(), finished.group());
    Lease kept = Objects.requireNonNull(tables.leaseWithState(store, key));
    if (Objects.requireNonNull(kept.state()).length > 0) {
      Lease next = finished.withStateAt(finished.committed());
      return progressed(next, new Change.PutLease(next));
    }
    Lease next = finished.withNoState();
    return progressed(next, new Change.PutLease(next), Change.removeLeaseState(key));
  }

  /**
   * A released lease, or that of the heir. One with a group term is granted by its holder alone.
   */
  private static Lease next(Lease released) {
    boolean inherits =
        released.drain() != null && released.drain().heir() != null && released.groupTerm() == 0;
    return inherits ? released.inherited() : released;
  }

  /**
   * FINISHED if the shard is sealed, and all its messages are consumed. What waits behind a failed
   * message, or for another attempt, is not.
   */
  private Lease.Stage stage(Lease released) {
    ShardRecord record = shard(released.shard());
    LeaseKey key = new LeaseKey(released.shard(), released.group());
    boolean finished =
        !released.owned()
            && record.sealed()
            && released.committed() >= record.end()
            && !tables.failures(key).anyMoved();
    return finished ? Lease.Stage.FINISHED : released.stage();
  }

  /**
   * @param level the feature level of the log group
   */
  public Decision<Change> forget(DataCommand.ForgetLeases command, int level) {
    List<LeaseKey> keys = covered(command, tables.leasesOf(command.group()));
    List<LeaseKey> publishers =
        tables.publishers().stream()
            .filter(key -> key.group().equals(command.group()) && command.covers(key.shard()))
            .toList();
    long highest = 0;
    for (LeaseKey key : publishers) {
      highest = Math.max(highest, ProducerDecider.publisher(tables, key).epoch());
    }
    for (LeaseKey key : keys) {
      highest = Math.max(highest, lease(tables, key).epoch());
    }
    if (highest > command.epochMax()) {
      return Decision.unchanged(new Reply.OfNumber(highest));
    }
    long floor = Math.max(tables.epochFloor(), command.epochMax());
    List<Change> changes = new ArrayList<>();
    keys.forEach(key -> changes.add(new Change.RemoveLease(key)));
    changes.addAll(raise(tables, floor));
    boolean someTopics = command.topicId() != DataCommand.ForgetLeases.ALL_TOPICS;
    if ((someTopics || level >= FeatureLevel.SUBSCRIPTIONS) && !keys.isEmpty()) {
      // Members of the group may live, or come back and make it again.
      long generation = tables.generationFloor();
      for (LeaseKey key : keys) {
        long gone = lease(tables, key).generation().number();
        generation = Math.max(generation, gone + 1);
      }
      changes.add(Change.putGenerationFloor(generation));
    }
    covered(command, tables.failuresOf(command.group()))
        .forEach(key -> changes.add(new Change.RemoveFailures(key)));
    changes.addAll(new ProducerDecider(tables, 0, 0).forget(publishers));
    return new Decision<>(changes, new Reply.OfNumber(floor));
  }

  private static List<LeaseKey> covered(DataCommand.ForgetLeases command, List<LeaseKey> keys) {
    return keys.stream().filter(key -> command.covers(key.shard())).toList();
  }

  /** A lease that is there. */
  private static Lease lease(DataTables tables, LeaseKey key) {
    return Objects.requireNonNull(tables.lease(key.group(), key.shard()));
  }

  /** Removes leases, and remembers the highest epoch of any. */
  static List<Change> remove(DataTables tables, List<LeaseKey> keys) {
    List<Change> changes = new ArrayList<>();
    long floor = tables.epochFloor();
    for (LeaseKey key : keys) {
      floor = Math.max(floor, lease(tables, key).epoch());
      changes.add(new Change.RemoveLease(key));
    }
    changes.addAll(raise(tables, floor));
    return changes;
  }

  /** Leases made from now on begin above {@code epoch}. */
  static List<Change> raise(DataTables tables, long epoch) {
    return epoch > tables.epochFloor() ? List.of(Change.putEpochFloor(epoch)) : List.of();
  }

  /** Adds the changes to failures that the progress makes superfluous. */
  private Decision<Change> progressed(Lease next, Change... changes) {
    List<Change> all = new ArrayList<>(List.of(changes));
    all.addAll(new FailureDecider(tables, store).progressed(next));
    return Decision.of(all);
  }

  private static Decision<Change> lease(Lease next) {
    return new Decision<>(List.of(new Change.PutLease(next)), new Reply.OfLease(next));
  }

  private ShardRecord shard(Shard shard) {
    ShardRecord record = tables.shard(shard);
    if (record == null) {
      throw UNKNOWN_SHARD.error("there is no shard " + shard);
    }
    return record;
  }

  /**
   * @throws RefusedException FENCED unless the lease is held at that epoch
   */
  private Lease owned(DataCommand.OfLease command, long epoch) {
    Lease lease = existing(command);
    if (!lease.ownedAt(epoch)) {
      throw fenced(lease, epoch);
    }
    return lease;
  }

  private Lease existing(DataCommand.OfLease command) {
    String group = command.group();
    Shard shard = command.shard();
    shard(shard);
    Lease lease = group == null ? null : tables.lease(group, shard);
    if (lease == null) {
      throw FENCED.error("group '" + group + "' has no lease on shard " + shard);
    }
    return lease;
  }

  private void checkOffset(String what, long offset, Shard shard) {
    long end = shard(shard).end();
    if (offset < 0 || offset > end) {
      throw INVALID.error(what + " " + offset + " of shard " + shard + ": use 0 to " + end);
    }
  }

  private static RefusedException fenced(Lease lease, long epoch) {
    return FENCED.error(
        "epoch %s of %s:%s%s",
        epoch,
        lease.group(),
        lease.shard(),
        lease.owned() || lease.epoch() != epoch
            ? ": the lease is at epoch " + lease.epoch()
            : ": the lease has no owner");
  }
}
