package dev.evenkeel.dispatcher;

import dev.evenkeel.bus.FailureFigures;
import dev.evenkeel.bus.ShardStatus;
import dev.evenkeel.protocol.Commands;
import dev.evenkeel.protocol.DataCommand;
import dev.evenkeel.protocol.GroupInfo;
import dev.evenkeel.protocol.GroupLease;
import dev.evenkeel.protocol.Lease;
import dev.evenkeel.protocol.MetaCommand;
import dev.evenkeel.protocol.MoveRecord;
import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.Reply;
import dev.evenkeel.protocol.Shard;
import dev.evenkeel.protocol.StartAt;
import dev.evenkeel.protocol.TopicConfig;
import dev.evenkeel.protocol.TopicInfo;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** The leases and groups of a cluster with the rules of the commands, in memory. */
public final class ModelLog {
  public final List<TopicInfo> topics = new ArrayList<>();
  public final Map<String, GroupInfo> groups = new TreeMap<>();
  public final Map<String, GroupLease> groupLeases = new TreeMap<>();
  public final Map<String, Map<Shard, Lease>> leases = new TreeMap<>();
  public final Map<MoveRecord.Key, MoveRecord> moves =
      Collections.synchronizedMap(new LinkedHashMap<>());
  public final Map<Shard, Long> ends = new TreeMap<>();
  public final List<FailureFigures> failures = new ArrayList<>();
  public long activeMillis;

  /** In which grants of groups' leases must be made that name one. */
  public long metaTerm;

  /** Most topics of a group. */
  public int groupTopicsMax = Integer.MAX_VALUE;

  /** Of handlers of each group, the highest epoch that they publish in. */
  public final Map<String, Long> publisherEpochs = new TreeMap<>();

  private long epochFloor;
  private long termFloor;

  public ModelLog topic(int id, String name, int shards) {
    topics.add(new TopicInfo(id, name, shards, TopicConfig.DEFAULT, TopicInfo.State.ACTIVE, 1_000));
    return this;
  }

  /** Makes a topic as the log does: groups that read it have leases, also those with patterns. */
  public ModelLog make(int id, String name, int shards) {
    topic(id, name, shards);
    for (GroupInfo group : List.copyOf(groups.values())) {
      if (group.reads(name) || group.takesIn(name)) {
        groups.put(group.name(), group.taking(List.of(name), activeMillis));
        for (int i = 0; i < shards; i++) {
          apply(new DataCommand.OpenLease(group.name(), new Shard(id, i), StartAt.EARLIEST));
        }
      }
    }
    return this;
  }

  public Lease lease(String group, Shard shard) {
    return leases.getOrDefault(group, Map.of()).get(shard);
  }

  public Reply apply(DataCommand command) {
    if (command instanceof DataCommand.Grant c) {
      Lease lease = lease(c.group(), c.shard());
      if ((lease == null ? 0 : lease.epoch()) != c.expectedEpoch()) {
        return Reply.refused(Refusal.FENCED, "another epoch");
      }
      if (lease != null && lease.finished()) {
        return Reply.refused(Refusal.FENCED, "finished");
      }
      if (lease != null && c.groupTerm() < lease.groupTerm()) {
        return Reply.refused(Refusal.FENCED, "a lower group term");
      }
      Lease before = lease == null ? fresh(c.group(), c.shard()) : lease;
      return put(before.granted(c.owner(), c.instance(), c.groupTerm(), c.ownerTimeoutMillis()));
    }
    if (command instanceof DataCommand.OpenLease c) {
      Lease lease = lease(c.group(), c.shard());
      if (lease != null) {
        return new Reply.OfLease(lease);
      }
      long end = ends.getOrDefault(c.shard(), 0L);
      long start = c.start().kind() == StartAt.Kind.LATEST ? end : c.start().value();
      Lease opened =
          Commands.lease(c.group(), c.shard(), epochFloor + 1, null, null, start, -1, null, null);
      boolean over = start == end && topics.stream().anyMatch(topic -> isSealed(topic, c.shard()));
      return put(over ? opened.at(Lease.Stage.FINISHED) : opened);
    }
    if (command instanceof DataCommand.SetDrain c) {
      Lease lease = lease(c.group(), c.shard());
      return lease == null || lease.epoch() != c.expectedEpoch()
          ? Reply.refused(Refusal.FENCED, "another epoch")
          : put(lease.draining(c.drain()));
    }
    if (command instanceof DataCommand.TakeSteps c) {
      return new Reply.OfSteps(c.steps().stream().map(step -> apply(step.command())).toList());
    }
    if (command instanceof DataCommand.Commit c) {
      Lease lease = lease(c.group(), c.shard());
      if (lease == null || !lease.ownedAt(c.epoch())) {
        return Reply.refused(Refusal.FENCED, "not held");
      }
      Lease next = lease.committedAt(c.offset());
      return put(c.state() == null ? next : next.withStateAt(c.stateOffset()));
    }
    if (command instanceof DataCommand.Release c) {
      Lease lease = lease(c.group(), c.shard());
      return lease == null || !lease.ownedAt(c.epoch())
          ? Reply.refused(Refusal.FENCED, "not held")
          : put(next(lease.released(c.offset(), c.stateOffset(), c.state())));
    }
    if (command instanceof DataCommand.ResetLease c) {
      Lease lease = lease(c.group(), c.shard());
      if ((lease == null ? 0 : lease.epoch()) != c.expectedEpoch()) {
        return Reply.refused(Refusal.FENCED, "another epoch");
      }
      if (c.to().value() > ends.getOrDefault(c.shard(), 0L)) {
        return Reply.refused(Refusal.OFFSET_OUT_OF_RANGE, "beyond the end");
      }
      Lease before = lease == null ? fresh(c.group(), c.shard()) : lease;
      return put(before.reset(c.to().value()));
    }
    if (command instanceof DataCommand.ForgetLeases c) {
      Map<Shard, Lease> of = leases.getOrDefault(c.group(), new TreeMap<>());
      var gone = of.values().stream().filter(lease -> c.covers(lease.shard())).toList();
      boolean all = c.topicId() == DataCommand.ForgetLeases.ALL_TOPICS;
      long publishers = all ? publisherEpochs.getOrDefault(c.group(), 0L) : 0;
      long highest = gone.stream().mapToLong(Lease::epoch).max().orElse(0);
      highest = Math.max(highest, publishers);
      if (highest > c.epochMax()) {
        return new Reply.OfNumber(highest);
      }
      of.values().removeAll(gone);
      if (all) {
        publisherEpochs.remove(c.group());
      }
      if (of.isEmpty()) {
        leases.remove(c.group());
      }
      epochFloor = Math.max(epochFloor, c.epochMax());
      return new Reply.OfNumber(epochFloor);
    }
    throw new IllegalArgumentException(command.toString());
  }

  private static boolean isSealed(TopicInfo topic, Shard shard) {
    return topic.id() == shard.topicId() && topic.isSealed(shard.shard());
  }

  private static Lease next(Lease released) {
    boolean heir = released.drain() != null && released.drain().heir() != null;
    return heir && released.groupTerm() == 0 ? released.inherited() : released;
  }

  private Lease fresh(String group, Shard shard) {
    return Commands.lease(group, shard, epochFloor, null, null, 0, -1, null, null);
  }

  private Reply put(Lease lease) {
    leases.computeIfAbsent(lease.group(), group -> new TreeMap<>()).put(lease.shard(), lease);
    return new Reply.OfLease(lease);
  }

  private Reply put(GroupLease lease) {
    groupLeases.put(lease.group(), lease);
    return new Reply.OfGroupLease(lease);
  }

  public Reply apply(MetaCommand command, long nowMillis) {
    if (command instanceof MetaCommand.ByUser by) {
      return apply(by.command(), nowMillis);
    }
    if (command instanceof MetaCommand.DeclareGroup c) {
      GroupInfo info = groups.get(c.name());
      if (info != null && !info.policy().equals(c.policy()) && !c.force()) {
        return Reply.refused(
            Refusal.GROUP_MISMATCH, "group " + info.policy().differenceTo(c.policy()));
      }
      String assignor = c.assignor();
      if (assignor == null) {
        assignor = info == null ? GroupInfo.ASSIGNOR_DEFAULT : info.assignor();
      }
      if (info != null && !info.assignor().equals(assignor) && !c.force()) {
        return Reply.refused(Refusal.GROUP_MISMATCH, "group uses assignor " + info.assignor());
      }
      GroupInfo declared =
          new GroupInfo(
              c.name(),
              c.policy(),
              info == null ? Collections.emptySortedMap() : info.subscriptions(),
              info == null ? c.start() : info.start(),
              info == null ? nowMillis : info.createdMillis(),
              activeMillis,
              assignor,
              info == null ? Collections.emptySortedMap() : info.patterns());
      var next = declared.seenAt(activeMillis, c.topics()).seenWith(c.patterns(), activeMillis);
      if (next.subscriptions().size() > groupTopicsMax) {
        return Reply.refused(Refusal.TOO_LARGE, "at most " + groupTopicsMax + " topics");
      }
      groups.put(c.name(), next);
      return new Reply.OfGroup(next);
    }
    if (command instanceof MetaCommand.SeeGroup c) {
      GroupInfo info = groups.get(c.name());
      if (info == null) {
        return Reply.refused(Refusal.UNKNOWN_GROUP, c.name());
      }
      GroupInfo next = info.seenAt(activeMillis, c.topics()).seenWith(c.patterns(), activeMillis);
      groups.put(c.name(), next);
      return new Reply.OfGroup(next);
    }
    if (command instanceof MetaCommand.AddActiveTime c) {
      activeMillis += c.millis();
      return new Reply.OfNumber(activeMillis);
    }
    if (command instanceof MetaCommand.ForgetGroup c) {
      groups.remove(c.name());
      GroupLease gone = groupLeases.remove(c.name());
      termFloor = gone == null ? termFloor : Math.max(termFloor, gone.term());
      moves.keySet().removeIf(key -> key.group().equals(c.name()));
      return Reply.DONE;
    }
    if (command instanceof MetaCommand.ForgetPattern c) {
      GroupInfo next = groups.get(c.group()).without(c.pattern());
      groups.put(c.group(), next);
      return new Reply.OfGroup(next);
    }
    if (command instanceof MetaCommand.ForgetTopic c) {
      GroupInfo info = groups.get(c.group());
      if (info == null) {
        return Reply.refused(Refusal.UNKNOWN_GROUP, c.group());
      }
      groups.put(c.group(), info.without(c.topic()));
      return new Reply.OfGroup(info.without(c.topic()));
    }
    if (command instanceof MetaCommand.GrantGroupLease c) {
      GroupLease lease = groupLeases.getOrDefault(c.group(), GroupLease.none(c.group()));
      if (lease.heldBy(c.instance(), c.expectedTerm() + 1)) {
        return new Reply.OfGroupLease(lease);
      }
      if (lease.term() != c.expectedTerm()
          || c.dispatcherTerm() != 0 && c.dispatcherTerm() != metaTerm) {
        return Reply.refused(Refusal.FENCED, "another term");
      }
      GroupLease before =
          lease.term() > 0 ? lease : new GroupLease(c.group(), termFloor, null, null);
      return put(before.granted(c.holder(), c.instance()));
    }
    if (command instanceof MetaCommand.ReleaseGroupLease c) {
      GroupLease lease = groupLeases.getOrDefault(c.group(), GroupLease.none(c.group()));
      return !lease.heldBy(c.instance(), c.term())
          ? Reply.refused(Refusal.FENCED, "not held")
          : put(lease.released());
    }
    if (command instanceof MetaCommand.RecordMoves c) {
      c.moves().forEach(move -> moves.merge(move.check().key(), move, MoveRecord::updatedBy));
      return Reply.DONE;
    }
    throw new IllegalArgumentException(command.toString());
  }

  /** Shards with the leases of a group, or of all if null. */
  public List<ShardStatus> statuses(String group) {
    List<ShardStatus> statuses = new ArrayList<>();
    for (TopicInfo topic : topics) {
      for (Shard shard : topic.all()) {
        List<Lease> on = new ArrayList<>();
        leases.forEach(
            (name, byShard) -> {
              if ((group == null || group.equals(name)) && byShard.containsKey(shard)) {
                on.add(byShard.get(shard));
              }
            });
        var failed = failures.stream().filter(each -> each.shard().equals(shard)).toList();
        statuses.add(
            new ShardStatus(
                shard,
                0,
                ends.getOrDefault(shard, 0L),
                0,
                0,
                on,
                failed,
                ShardStatus.Delayed.NONE));
      }
    }
    return statuses;
  }

  public List<GroupInfo> groups() {
    return new ArrayList<>(groups.values());
  }
}
