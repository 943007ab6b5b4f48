package dev.evenkeel.broker.serve;

import static dev.evenkeel.protocol.Refusal.INVALID;
import static dev.evenkeel.protocol.Refusal.UNKNOWN_GROUP;

import dev.evenkeel.broker.node.BodyCleaner;
import dev.evenkeel.broker.node.BrokerNode;
import dev.evenkeel.broker.state.BatchIndex;
import dev.evenkeel.broker.state.DelayCounts;
import dev.evenkeel.broker.state.MetaTables;
import dev.evenkeel.broker.state.ShardRecord;
import dev.evenkeel.bus.Frames;
import dev.evenkeel.bus.NodeLogs;
import dev.evenkeel.bus.Op;
import dev.evenkeel.bus.ShardStatus;
import dev.evenkeel.log.LogGroup;
import dev.evenkeel.log.LogNode;
import dev.evenkeel.log.LogStatus;
import dev.evenkeel.protocol.BuildVersion;
import dev.evenkeel.protocol.DataCommand;
import dev.evenkeel.protocol.Lease;
import dev.evenkeel.protocol.MetaCommand;
import dev.evenkeel.protocol.Reply;
import dev.evenkeel.protocol.Shard;
import dev.evenkeel.protocol.StartAt;
import dev.evenkeel.protocol.TopicConfig;
import dev.evenkeel.protocol.wire.ByteReader;
import dev.evenkeel.protocol.wire.Bytes;
import dev.evenkeel.protocol.wire.Codec;
import dev.evenkeel.protocol.wire.CommandCodec;
import dev.evenkeel.protocol.wire.Entry;
import dev.evenkeel.protocol.wire.FeatureLevel;
import dev.evenkeel.protocol.wire.RecordCodec;
import dev.evenkeel.protocol.wire.ReplyCodec;
import io.vertx.core.Future;
import io.vertx.core.buffer.Buffer;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Function;

/**
 * Answers requests to the control address. It decodes and checks each command before it is logged,
 * so nothing malformed gets into a log.
 */
public final class ControlService {
  private final ServeContext serve;
  private final BrokerNode node;
  private final List<LogGroupServer> groups;
  private final FetchService fetches;
  private final GroupCommands commands;
  private final TopicProcedures topics;
  private final PeerLinks links;
  private final FailureService failures;
  private final DelayedService delayed;
  private final OffsetFinder offsets;
  private final RateService rates;
  private final List<CommitQueue> commits = new ArrayList<>();

  ControlService(
      ServeContext serve,
      FetchService fetches,
      GroupCommands commands,
      TopicProcedures topics,
      PeerLinks links) {
    this.serve = serve;
    node = serve.node();
    groups = serve.groups();
    this.fetches = fetches;
    this.commands = commands;
    this.topics = topics;
    this.links = links;
    failures = new FailureService(serve, fetches.pauses());
    delayed = new DelayedService(serve);
    offsets = new OffsetFinder(serve);
    rates = new RateService(serve, commands);
  }

  void add(LogGroupServer group) {
    commits.add(new CommitQueue(group.log(), group.state(), serve.context(), node::nowMillis));
  }

  Future<Buffer> handle(Buffer request) {
    Op op = Frames.op(request);
    ByteReader in = new ByteReader(Frames.body(request));
    return switch (op) {
      case SUBMIT_DATA -> submitData(in, DataCommand.Submitted.class);
      case MANAGE_SHARDS -> submitData(in, DataCommand.Managed.class);
      case SUBMIT_META -> submitMeta(in);
      case READ_LEASE -> readLease(in);
      case READ_SHARDS -> readShards(in);
      case BROWSE -> fetches.browse(request);
      case FIND_OFFSET -> findOffset(in);
      case READ_BYTES -> readBytes(in);
      case READ_BODY -> readBody(in);
      case CREATE_TOPIC ->
          topics.create(in.text(), in.i32(), config(in)).map(ControlService::reply);
      case CONFIGURE_TOPIC -> topics.configure(in.text(), config(in)).map(ControlService::reply);
      case RESHARD_TOPIC -> topics.reshard(in.text(), in.i32()).map(ControlService::reply);
      case DELETE_TOPIC -> deleteTopic(in);
      case READ_GROUPS -> readMeta(in, RecordCodec.GROUP, MetaTables::groups);
      case READ_GROUP_LEASES -> readMeta(in, RecordCodec.GROUP_LEASE, MetaTables::groupLeases);
      case RESERVE -> rates.reserve(Frames.body(request));
      case READ_QUOTAS -> {
        in.end();
        yield rates.read();
      }
      case READ_LOGS -> readLogs(in);
      case READ_MOVES -> readMeta(in, RecordCodec.MOVE, tables -> tables.moves().oldestFirst());
      case FETCH_RETRIES -> failures.retries(Frames.body(request));
      case READ_DEAD_LETTERS -> failures.deadLetters(in);
      case READ_RETRIES -> failures.waiting(in);
      case READ_DELAYED -> delayed.list(in);
      case CANCEL_DELAYED -> delayed.cancel(in);
      case FIND_MOVED -> delayed.findMoved(in);
      case READ_FAILURES -> failures.figures(group(in), in);
      case APPEND, MOVE_DELAYED, FETCH, FETCH_MANY, AWAIT_REPLICAS ->
          throw INVALID.error(op + " belongs to the data address");
      case LEVEL_START, LEVEL_HAND_OUT, LEVEL_REPORT ->
          throw INVALID.error(op + " is not for a broker");
    };
  }

  private LogGroupServer group(ByteReader in) {
    return serve.group(in.i32());
  }

  private static void requireAllowed(Class<?> allowed, Object command) {
    if (!allowed.isInstance(command)) {
      throw INVALID.error(command.getClass().getSimpleName() + " may not be submitted here");
    }
  }

  /**
   * The command in a form that every node of the cluster reads: without an heir, the dispatcher
   * grants the shard after the release.
   */
  private static DataCommand readable(LogGroupServer group, DataCommand command) {
    boolean former = group.state().levelOfCluster() < FeatureLevel.RELEASE_TO;
    return former && command instanceof DataCommand.SetDrain set && set.drain() != null
        ? new DataCommand.SetDrain(
            set.group(), set.shard(), set.expectedEpoch(), set.drain().withoutHeir())
        : command;
  }

  private Future<Buffer> submitData(ByteReader in, Class<?> allowed) {
    LogGroupServer group = group(in);
    DataCommand command = readable(group, CommandCodec.data(in));
    requireAllowed(allowed, command);
    group.requireLeader();
    Future<Buffer> answer;
    if (CommitQueue.takes(command)) {
      answer = commits.get(groups.indexOf(group)).commit(command).map(ControlService::reply);
    } else if (command instanceof DataCommand.TakeSteps take
        && group.state().levelOfCluster() < FeatureLevel.TAKE_STEPS) {
      answer = oneByOne(group, take);
    } else {
      answer = append(group, command);
    }
    return serve.meters().commanded(command, answer);
  }

  private Future<Buffer> append(LogGroupServer group, DataCommand command) {
    return offsets
        .located(group, command)
        .compose(located -> commands.append(group.log(), Entry.of(located, node.nowMillis())));
  }

  /** Nodes that cannot read the joined command may be there. */
  private Future<Buffer> oneByOne(LogGroupServer group, DataCommand.TakeSteps take) {
    take.check();
    List<Future<Reply>> replies = new ArrayList<>();
    for (DataCommand.Step step : take.steps()) {
      replies.add(
          append(group, readable(group, step.command()))
              .map(answer -> ReplyCodec.decode(Frames.answerBody(answer))));
    }
    return Future.all(replies).map(all -> reply(new Reply.OfSteps(all.list())));
  }

  private Future<Buffer> submitMeta(ByteReader in) {
    MetaCommand command = CommandCodec.meta(in);
    requireAllowed(MetaCommand.Submitted.class, command);
    LogGroup meta = node.log().meta();
    LogGroupServer.requireLeader(node.nodeId(), meta);
    return commands.append(meta, Entry.of(command, node.nowMillis()));
  }

  private Future<Buffer> readLease(ByteReader in) {
    String name = in.text();
    Shard shard = RecordCodec.shard(in);
    boolean withStage = in.remaining() > 0 && in.bool();
    in.end();
    if (name == null) {
      throw INVALID.error("a lease belongs to a group: name it");
    }
    LogGroupServer group = serve.readyGroupOf(shard);
    Lease lease = group.state().tables().lease(name, shard);
    if (lease == null) {
      throw UNKNOWN_GROUP.error(
          "group '" + name + "' has no lease on " + group.state().tables().nameOf(shard));
    }
    if (lease.state() == null) {
      return Future.succeededFuture(reply(lease, withStage));
    }
    return serve.read(
        () -> {
          Lease whole = group.state().leaseWithState(name, shard);
          if (whole == null) {
            throw UNKNOWN_GROUP.error("the lease has been forgotten");
          }
          return reply(whole, withStage);
        });
  }

  /** Without the stage, of which clients of earlier versions know nothing. */
  private static Buffer reply(Lease lease, boolean withStage) {
    Lease plain = lease.forOwner();
    return reply(new Reply.OfLease(withStage ? plain.at(lease.stage()) : plain));
  }

  private Future<Buffer> readShards(ByteReader in) {
    LogGroupServer group = group(in);
    String only = in.text();
    List<Integer> topics = in.remaining() > 0 ? topics(in) : null;
    in.end();
    group.requireReady();
    List<ShardStatus> statuses = new ArrayList<>();
    if (topics == null) {
      group.state().tables().shards().forEach(each -> statuses.add(status(group, each, only)));
    } else {
      for (int topic : topics) {
        group
            .state()
            .tables()
            .shards(topic)
            .forEach(each -> statuses.add(status(group, each, only)));
      }
    }
    Bytes out = new Bytes(64 * statuses.size());
    ShardStatus.LIST.write(out, statuses);
    return answer(out);
  }

  private static List<Integer> topics(ByteReader in) {
    List<Integer> topics = new ArrayList<>();
    for (int left = in.i32(); left > 0; left--) {
      topics.add(in.i32());
    }
    return topics;
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

  private static ShardStatus.Delayed delayed(DelayCounts counts) {
    return counts.isEmpty()
        ? ShardStatus.Delayed.NONE
        : new ShardStatus.Delayed(counts.messages(), counts.bytes(), counts.dueMillis());
  }

  private Future<Buffer> findOffset(ByteReader in) {
    Shard shard = RecordCodec.shard(in);
    StartAt start = RecordCodec.START.read(in);
    in.end();
    LogGroupServer group = serve.readyGroupOf(shard);
    return serve.read(
        group,
        store -> {
          group.shard(shard);
          long offset = OffsetFinder.find(store, group, shard, start);
          return Frames.answer(new Bytes(8).i64(offset).view());
        });
  }

  private Future<Buffer> readBytes(ByteReader in) {
    Shard shard = RecordCodec.shard(in);
    long from = in.i64();
    long to = in.i64();
    in.end();
    LogGroupServer group = serve.readyGroupOf(shard);
    return serve.read(
        group,
        store -> {
          ShardRecord record = group.shard(shard);
          long bytes =
              BatchIndex.position(store, shard, record, to)
                  - BatchIndex.position(store, shard, record, from);
          return Frames.answer(new Bytes(8).i64(Math.max(0, bytes)).view());
        });
  }

  /** This node's copy, whoever leads. */
  private Future<Buffer> readBody(ByteReader in) {
    LogGroupServer group = group(in);
    long index = in.i64();
    in.end();
    return serve.read(() -> Frames.answer(group.mender().have(index).encode().view()));
  }

  private Future<Buffer> deleteTopic(ByteReader in) {
    String name = in.text();
    in.end();
    return topics.delete(name).map(ControlService::reply);
  }

  private static TopicConfig config(ByteReader in) {
    TopicConfig config = RecordCodec.TOPIC_CONFIG.read(in);
    in.end();
    return config;
  }

  /** All records of a kind in the meta log group. */
  private <T> Future<Buffer> readMeta(
      ByteReader in, Codec<T> codec, Function<MetaTables, Collection<T>> known) {
    in.end();
    LogGroupServer.requireReady(node.nodeId(), node.log().meta());
    Bytes out = new Bytes(1_024);
    Codec.list(codec).write(out, List.copyOf(known.apply(node.meta().tables())));
    return answer(out);
  }

  private Future<Buffer> readLogs(ByteReader in) {
    in.end();
    LogNode log = node.log();
    NodeLogs.Levels levels =
        new NodeLogs.Levels(
            FeatureLevel.reads(), node.meta().tables().featureLevel(), BuildVersion.number());
    List<NodeLogs.Group> known = node.logs().stream().map(this::known).toList();
    return answer(
        new NodeLogs(
                log.nodeId(),
                node.host(),
                known,
                levels,
                disk(),
                links.unanswered(System.nanoTime() / 1_000_000))
            .encode());
  }

  /** The space on this node's disk; null if it is unknown. */
  private NodeLogs.Disk disk() {
    double freeBytes = node.disk().freeBytes();
    return Double.isNaN(freeBytes)
        ? null
        : new NodeLogs.Disk((long) freeBytes, node.disk().freeBytesMin());
  }

  /** What this node knows of one of its log groups. */
  private NodeLogs.Group known(LogGroup group) {
    LogStatus status = group.status();
    Map<String, String> ineligible = new TreeMap<>();
    group.eligibility().reasons().forEach((why, detail) -> ineligible.put(why.name(), detail));
    Map<String, String> differs = new TreeMap<>();
    node.replicaCheck(group.name())
        .differences()
        .forEach((other, place) -> differs.put(other, "since " + place));
    return new NodeLogs.Group(
        status.group(),
        status.leadership().leader(),
        status.leadership().term(),
        status.leadership().ready(),
        status.commitIndex(),
        status.appliedIndex(),
        status.matchIndex(),
        new NodeLogs.Condition(
            ineligible, node.state(group.name()).digest(), differs, bodies(group)));
  }

  private NodeLogs.Bodies bodies(LogGroup group) {
    int number = node.log().data().indexOf(group);
    BodyCleaner.Figures figures = number < 0 ? null : node.maintenance().cleaner(number).figures();
    return figures == null
        ? null
        : new NodeLogs.Bodies(
            figures.liveBytes(),
            figures.deadBytes(),
            node.maintenance().mender(number).lostMessages());
  }

  private static Future<Buffer> answer(Bytes out) {
    return Future.succeededFuture(Frames.answer(out.view()));
  }

  private static Buffer reply(Reply reply) {
    return Frames.answer(ReplyCodec.encode(reply));
  }
}
