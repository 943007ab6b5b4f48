package dev.evenkeel.broker.decide;

import static dev.evenkeel.protocol.Refusal.INVALID;
import static dev.evenkeel.protocol.Refusal.UNKNOWN_TOPIC;

import dev.evenkeel.broker.state.Change;
import dev.evenkeel.broker.state.DataTables;
import dev.evenkeel.broker.state.LeaseKey;
import dev.evenkeel.broker.state.ShardRecord;
import dev.evenkeel.broker.state.TopicRecord;
import dev.evenkeel.protocol.DataCommand;
import dev.evenkeel.protocol.Lease;
import dev.evenkeel.protocol.Limits;
import dev.evenkeel.protocol.Reply;
import dev.evenkeel.protocol.Shard;
import dev.evenkeel.protocol.TopicConfig;
import dev.evenkeel.protocol.wire.FeatureLevel;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * Opens, configures and drops the shards of a topic.
 *
 * @param level the feature level of the log group
 */
public record ShardDecider(DataTables tables, int level) {
  public Decision<Change> open(DataCommand.OpenShards command) {
    TopicRecord known = tables.topic(command.topicId());
    if (known != null && known.dropped()) {
      return Decision.refused(UNKNOWN_TOPIC, "topic " + command.topicId() + " has been deleted");
    }
    List<Change> changes = new ArrayList<>();
    if (known == null) {
      changes.add(
          Change.putTopic(
              new TopicRecord(command.topicId(), command.topic(), command.config(), false)));
    }
    changes.addAll(LeaseDecider.raise(tables, command.epochFloor()));
    long floor = Math.max(tables.epochFloor(), command.epochFloor());
    int highest = level >= FeatureLevel.DROPPED_LAYOUTS ? highest(command.topicId()) : -1;
    for (int index : command.shards()) {
      if (index < 0 || index >= Limits.SHARD_NUMBERS_MAX) {
        return Decision.refused(
            INVALID, "shard " + index + ": use 0 to " + (Limits.SHARD_NUMBERS_MAX - 1));
      }
      Shard shard = new Shard(command.topicId(), index);
      ShardRecord record = tables.shard(shard);
      if (record == null && index < highest) {
        // Shards are opened in the order of their numbers: it has been dropped since, and the
        // command comes late.
        continue;
      }
      if (record == null) {
        record = ShardRecord.EMPTY;
        changes.add(new Change.PutShard(shard, record));
      }
      if (index >= command.readFrom()) {
        for (String reader : command.readers()) {
          if (tables.lease(reader, shard) == null) {
            long start = record.start();
            changes.add(
                new Change.PutLease(
                    LeaseDecider.opened(tables, floor, reader, shard, record, start)));
          }
        }
      }
    }
    return Decision.of(changes);
  }

  /** The highest number of a shard of the topic, or -1. */
  private int highest(int topicId) {
    return tables.shardsOf(topicId).stream().mapToInt(Shard::shard).max().orElse(-1);
  }

  public Decision<Change> seal(DataCommand.SealShards command) {
    List<Change> changes = new ArrayList<>();
    for (Map.Entry<Shard, ShardRecord> each : tables.shards(command.topicId())) {
      Shard shard = each.getKey();
      ShardRecord record = each.getValue();
      if (shard.shard() < command.below() && !record.sealed()) {
        changes.add(new Change.PutShard(shard, record.seal()));
        if (level >= FeatureLevel.SUBSCRIPTIONS) {
          finish(shard, record.end(), changes);
        }
      }
    }
    return Decision.of(changes);
  }

  /** Groups that have consumed everything, and whose state stands there, need no other owner. */
  private void finish(Shard shard, long end, List<Change> changes) {
    for (Lease lease : tables.leasesOn(shard)) {
      boolean consumed =
          lease.committed() >= end && (lease.state() == null || lease.stateOffset() >= end);
      LeaseKey key = new LeaseKey(shard, lease.group());
      if (consumed && !lease.owned() && !tables.failures(key).anyMoved()) {
        changes.add(new Change.PutLease(lease.at(Lease.Stage.FINISHED)));
      }
    }
  }

  /** Drops sealed shards that nobody needs any more; those that are not empty stay. */
  public Decision<Change> dropSealed(DataCommand.DropSealed command) {
    List<Shard> gone =
        tables.shards(command.topicId()).stream()
            .filter(each -> each.getKey().shard() < command.below())
            .filter(each -> mayGo(each.getKey(), each.getValue()))
            .map(Map.Entry::getKey)
            .toList();
    List<Change> changes = new ArrayList<>();
    remove(gone, changes);
    tables.ringsIn(command.topicId()).stream()
        .filter(ring -> ring.shard().shard() < command.forgetBelow())
        .filter(ring -> gone.contains(ring.shard()) || tables.shard(ring.shard()) == null)
        .forEach(ring -> changes.add(Change.removeRing(ring)));
    List<LeaseKey> publishers =
        tables.publishers().stream()
            .filter(key -> key.shard().topicId() == command.topicId())
            .filter(key -> key.shard().shard() < command.below())
            .toList();
    changes.addAll(new ProducerDecider(tables, 0, 0).forget(publishers));
    return Decision.of(changes);
  }

  private boolean mayGo(Shard shard, ShardRecord record) {
    return record.sealed() && record.start() == record.end() && tables.delays().of(shard).isEmpty();
  }

  /**
   * Removes shards with all that belongs to them.
   *
   * @return the highest epoch that was ever granted here
   */
  private long remove(List<Shard> gone, List<Change> changes) {
    List<LeaseKey> leases = new ArrayList<>();
    long floor = tables.epochFloor();
    for (Shard shard : gone) {
      changes.add(new Change.RemoveShard(shard));
      for (Lease lease : tables.leasesOn(shard)) {
        leases.add(new LeaseKey(shard, lease.group()));
        floor = Math.max(floor, lease.epoch());
      }
      tables.failuresOn(shard).forEach(key -> changes.add(new Change.RemoveFailures(key)));
    }
    changes.addAll(LeaseDecider.remove(tables, leases));
    return floor;
  }

  public Decision<Change> configure(DataCommand.ConfigureShards command) {
    TopicRecord known = tables.topic(command.topicId());
    if (known == null || known.dropped()) {
      return Decision.refused(UNKNOWN_TOPIC, "topic " + command.topicId() + " has no shards here");
    }
    return Decision.of(
        List.of(
            Change.putTopic(new TopicRecord(known.id(), known.name(), command.config(), false))));
  }

  public Decision<Change> drop(DataCommand.DropShards command) {
    int id = command.topicId();
    TopicRecord known = tables.topic(id);
    if (known != null && known.dropped()) {
      return Decision.unchanged(new Reply.OfNumber(tables.epochFloor()));
    }
    List<Change> changes = new ArrayList<>();
    long floor = remove(tables.shardsOf(id), changes);
    tables.ringsIn(id).forEach(key -> changes.add(Change.removeRing(key)));
    changes.addAll(new ProducerDecider(tables, 0, 0).forgetInputs(id));
    String name = known == null ? "" : known.name();
    changes.add(Change.putTopic(new TopicRecord(id, name, TopicConfig.DEFAULT, true)));
    return new Decision<>(changes, new Reply.OfNumber(floor));
  }
}
