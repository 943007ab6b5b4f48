package dev.evenkeel.broker.serve;

import dev.evenkeel.broker.decide.StartFinder;
import dev.evenkeel.broker.node.BrokerNode;
import dev.evenkeel.broker.state.BatchIndex;
import dev.evenkeel.broker.state.DelayCounts;
import dev.evenkeel.broker.state.ShardRecord;
import dev.evenkeel.bus.Frames;
import dev.evenkeel.bus.NodeLogs;
import dev.evenkeel.bus.Op;
import dev.evenkeel.bus.ShardStatus;
import dev.evenkeel.log.LogGroup;
import dev.evenkeel.protocol.DataCommand;
import dev.evenkeel.protocol.GroupInfo;
import dev.evenkeel.protocol.GroupLease;
import dev.evenkeel.protocol.Lease;
import dev.evenkeel.protocol.MetaCommand;
import dev.evenkeel.protocol.MoveRecord;
import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.RefusedException;
import dev.evenkeel.protocol.Reply;
import dev.evenkeel.protocol.Shard;
import dev.evenkeel.protocol.StartAt;
import dev.evenkeel.protocol.TopicConfig;
import dev.evenkeel.protocol.wire.ByteReader;
import dev.evenkeel.protocol.wire.Bytes;
import dev.evenkeel.protocol.wire.CommandCodec;
import dev.evenkeel.protocol.wire.Entry;
import dev.evenkeel.protocol.wire.FeatureLevel;
import dev.evenkeel.protocol.wire.RecordCodec;
import dev.evenkeel.protocol.wire.ReplyCodec;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.buffer.Buffer;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Answers what comes to the control address. A command is decoded and checked before it is logged:
 * nothing malformed gets into a log.
 */
public final class ControlService {
  /** What clients and dispatchers may send. */
  private static final Set<Class<?>> SUBMITTED_DATA =
      Set.of(
          DataCommand.Grant.class,
          DataCommand.SetDrain.class,
          DataCommand.Commit.class,
          DataCommand.Release.class,
          DataCommand.RecordOutcomes.class,
          DataCommand.ReplayDeadLetters.class,
          DataCommand.DropDeadLetters.class,
          DataCommand.ForgetLeases.class,
          DataCommand.ResetLease.class,
          DataCommand.SetPublisher.class,
          DataCommand.OpenPublisher.class,
          DataCommand.OpenProducer.class);

  /** What brokers send each other. */
  private static final Set<Class<?>> MANAGED =
      Set.of(
          DataCommand.OpenShards.class,
          DataCommand.ConfigureShards.class,
          DataCommand.DropShards.class);

  private static final Set<Class<?>> SUBMITTED_META =
      Set.of(
          MetaCommand.DeclareGroup.class,
          MetaCommand.SeeGroup.class,
          MetaCommand.AddActiveTime.class,
          MetaCommand.ForgetGroup.class,
          MetaCommand.ForgetTopic.class,
          MetaCommand.GrantGroupLease.class,
          MetaCommand.ReleaseGroupLease.class,
          MetaCommand.RecordMoves.class,
          MetaCommand.RegisterProducer.class);

  private final BrokerNode node;
  private final List<LogGroupServer> groups;
  private final FetchService fetches;
  private final GroupCommands commands;
  private final TopicProcedures topics;
  private final Vertx vertx;
  private final RequestMeters meters;
  private final FailureService failures;

  ControlService(
      BrokerNode node,
      List<LogGroupServer> groups,
      FetchService fetches,
      GroupCommands commands,
      TopicProcedures topics,
      Vertx vertx,
      RequestMeters meters) {
    this.node = node;
    this.groups = groups;
    this.fetches = fetches;
    this.commands = commands;
    this.topics = topics;
    this.vertx = vertx;
    this.meters = meters;
    failures = new FailureService(groups, vertx, node.readers(), node::nowMillis);
  }

  Future<Buffer> handle(Buffer request) {
    Op op = Frames.op(request);
    ByteReader in = new ByteReader(Frames.body(request));
    return switch (op) {
      case SUBMIT_DATA -> submitData(in, SUBMITTED_DATA);
      case MANAGE_SHARDS -> submitData(in, MANAGED);
      case SUBMIT_META -> submitMeta(in);
      case READ_LEASE -> readLease(in);
      case READ_SHARDS -> readShards(in);
      case BROWSE -> fetches.browse(request);
      case FIND_OFFSET -> findOffset(in);
      case READ_BYTES -> readBytes(in);
      case CREATE_TOPIC -> createTopic(in);
      case CONFIGURE_TOPIC -> configureTopic(in);
      case DELETE_TOPIC -> deleteTopic(in);
      case READ_GROUPS -> readGroups(in);
      case READ_GROUP_LEASES -> readGroupLeases(in);
      case READ_LOGS -> readLogs(in);
      case READ_MOVES -> readMoves(in);
      case FETCH_RETRIES -> failures.retries(Frames.body(request));
      case READ_DEAD_LETTERS -> failures.deadLetters(in);
      case READ_FAILURES -> failures.figures(group(in), in);
      case APPEND, FETCH, AWAIT_REPLICAS ->
          throw new RefusedException(Refusal.INVALID, op + " belongs to the data address");
      case LEVEL_COLLECT, LEVEL_DEAL, LEVEL_REPORT ->
          throw new RefusedException(Refusal.INVALID, op + " is not for a broker");
    };
  }

  private LogGroupServer group(ByteReader in) {
    int group = in.i32();
    if (group < 0 || group >= groups.size()) {
      throw new RefusedException(
          Refusal.INVALID, "log group " + group + ": use 0 to " + (groups.size() - 1));
    }
    return groups.get(group);
  }

  private LogGroupServer groupOf(Shard shard) {
    return groups.get(shard.dataGroup(groups.size()));
  }

  private static void requireAllowed(Set<Class<?>> allowed, Object command) {
    if (!allowed.contains(command.getClass())) {
      throw new RefusedException(
          Refusal.INVALID, command.getClass().getSimpleName() + " may not be submitted here");
    }
  }

  private Future<Buffer> submitData(ByteReader in, Set<Class<?>> allowed) {
    LogGroupServer group = group(in);
    DataCommand command = CommandCodec.data(in);
    requireAllowed(allowed, command);
    group.requireLeader();
    return meters.commanded(
        command,
        commands.append(group.log(), Entry.of(readable(command, group), node.nowMillis())));
  }

  /** While a node of a former version is there, shards must find owners all the same. */
  private static DataCommand readable(DataCommand command, LogGroupServer group) {
    if (!(command instanceof DataCommand.Grant grant)) {
      return command;
    }
    // Before, it has not applied what may say which level all read.
    group.requireReady();
    return group.state().levelOfCluster() < FeatureLevel.OWNER_TIMEOUT
        ? grant.withUsualTimeout()
        : grant;
  }

  private Future<Buffer> submitMeta(ByteReader in) {
    MetaCommand command = CommandCodec.meta(in);
    requireAllowed(SUBMITTED_META, command);
    LogGroup meta = node.log().meta();
    LogGroupServer.requireLeader(node.nodeId(), meta);
    return commands.append(meta, Entry.of(command, node.nowMillis()));
  }

  private Future<Buffer> readLease(ByteReader in) {
    String name = in.text();
    Shard shard = RecordCodec.shard(in);
    in.end();
    if (name == null) {
      throw new RefusedException(Refusal.INVALID, "a lease belongs to a group: name it");
    }
    LogGroupServer group = groupOf(shard);
    group.requireReady();
    group.shard(shard);
    Lease lease = group.state().tables().lease(name, shard);
    if (lease == null) {
      throw new RefusedException(
          Refusal.UNKNOWN_GROUP, "group '" + name + "' has no lease on " + group.nameOf(shard));
    }
    if (lease.state() == null) {
      return Future.succeededFuture(reply(new Reply.OfLease(lease.forOwner())));
    }
    return Answers.on(
        vertx,
        node.readers(),
        () -> {
          Lease whole = group.state().leaseWithState(name, shard);
          if (whole == null) {
            throw new RefusedException(Refusal.UNKNOWN_GROUP, "the lease has been forgotten");
          }
          return reply(new Reply.OfLease(whole.forOwner()));
        });
  }

  private Future<Buffer> readShards(ByteReader in) {
    LogGroupServer group = group(in);
    String only = in.text();
    in.end();
    group.requireReady();
    List<ShardStatus> statuses = new ArrayList<>();
    for (var each : group.state().tables().shards()) {
      statuses.add(status(group, each, only));
    }
    Bytes out = new Bytes(64 * statuses.size());
    ShardStatus.write(out, statuses);
    return Future.succeededFuture(Frames.answer(out.view()));
  }

  private static ShardStatus status(
      LogGroupServer group, Map.Entry<Shard, ShardRecord> each, String only) {
    var record = each.getValue();
    List<Lease> leases =
        group.state().tables().leasesOn(each.getKey()).stream()
            .filter(lease -> only == null || lease.group().equals(only))
            .toList();
    return new ShardStatus(
        each.getKey(),
        record.start(),
        record.end(),
        record.bytes(),
        record.dropped(),
        leases,
        FailureService.on(group, each.getKey(), only),
        delayed(group.state().tables().delays().of(each.getKey())));
  }

  private static ShardStatus.Delayed delayed(DelayCounts stand) {
    return stand.isEmpty()
        ? ShardStatus.Delayed.NONE
        : new ShardStatus.Delayed(stand.messages(), stand.bytes(), stand.dueMillis());
  }

  private Future<Buffer> findOffset(ByteReader in) {
    Shard shard = RecordCodec.shard(in);
    StartAt start = RecordCodec.START.read(in);
    in.end();
    LogGroupServer group = groupOf(shard);
    group.requireReady();
    group.shard(shard);
    return Answers.on(
        vertx,
        node.readers(),
        () -> {
          group.shard(shard);
          long offset =
              group
                  .state()
                  .read(store -> StartFinder.find(store, group.state().tables(), shard, start));
          return Frames.answer(new Bytes(8).i64(offset).view());
        });
  }

  private Future<Buffer> readBytes(ByteReader in) {
    Shard shard = RecordCodec.shard(in);
    long from = in.i64();
    long to = in.i64();
    in.end();
    LogGroupServer group = groupOf(shard);
    group.requireReady();
    group.shard(shard);
    return Answers.on(
        vertx,
        node.readers(),
        () -> {
          ShardRecord record = group.shard(shard);
          long bytes =
              group
                  .state()
                  .read(
                      store ->
                          BatchIndex.position(store, shard, record, to)
                              - BatchIndex.position(store, shard, record, from));
          return Frames.answer(new Bytes(8).i64(Math.max(0, bytes)).view());
        });
  }

  private Future<Buffer> createTopic(ByteReader in) {
    String name = in.text();
    int shards = in.i32();
    TopicConfig config = RecordCodec.TOPIC_CONFIG.read(in);
    in.end();
    return topics.create(name, shards, config).map(ControlService::reply);
  }

  private Future<Buffer> configureTopic(ByteReader in) {
    String name = in.text();
    TopicConfig config = RecordCodec.TOPIC_CONFIG.read(in);
    in.end();
    return topics.configure(name, config).map(ControlService::reply);
  }

  private Future<Buffer> deleteTopic(ByteReader in) {
    String name = in.text();
    in.end();
    return topics.delete(name).map(ControlService::reply);
  }

  private Future<Buffer> readGroups(ByteReader in) {
    in.end();
    LogGroupServer.requireReady(node.nodeId(), node.log().meta());
    Collection<GroupInfo> known = List.copyOf(node.meta().tables().groups());
    Bytes out = new Bytes().i32(known.size());
    known.forEach(group -> RecordCodec.write(out, group));
    return Future.succeededFuture(Frames.answer(out.view()));
  }

  private Future<Buffer> readGroupLeases(ByteReader in) {
    in.end();
    LogGroupServer.requireReady(node.nodeId(), node.log().meta());
    List<GroupLease> known = List.copyOf(node.meta().tables().groupLeases());
    Bytes out = new Bytes().i32(known.size());
    known.forEach(lease -> RecordCodec.GROUP_LEASE.write(out, lease));
    return Future.succeededFuture(Frames.answer(out.view()));
  }

  private Future<Buffer> readMoves(ByteReader in) {
    in.end();
    LogGroupServer.requireReady(node.nodeId(), node.log().meta());
    List<MoveRecord> moves = node.meta().tables().moves().oldestFirst();
    Bytes out = new Bytes(4 + 160 * moves.size());
    RecordCodec.MOVES.write(out, moves);
    return Future.succeededFuture(Frames.answer(out.view()));
  }

  private Future<Buffer> readLogs(ByteReader in) {
    in.end();
    NodeLogs logs = LogFacts.of(node);
    return Future.succeededFuture(Frames.answer(logs.encode().view()));
  }

  private static Buffer reply(Reply reply) {
    return Frames.answer(ReplyCodec.encode(reply));
  }
}
