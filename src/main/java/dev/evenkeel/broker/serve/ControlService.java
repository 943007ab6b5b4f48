package dev.evenkeel.broker.serve;

import static dev.evenkeel.protocol.Refusal.INVALID;
import static dev.evenkeel.protocol.Refusal.UNKNOWN_GROUP;
import static dev.evenkeel.protocol.wire.FeatureLevel.TABLE_OWNERS;

import dev.evenkeel.broker.node.BodyCleaner;
import dev.evenkeel.broker.node.BrokerNode;
import dev.evenkeel.broker.state.BatchIndex;
import dev.evenkeel.broker.state.DataTables;
import dev.evenkeel.broker.state.DelayCounts;
import dev.evenkeel.broker.state.MetaTables;
import dev.evenkeel.broker.state.ShardRecord;
import dev.evenkeel.bus.Asker;
import dev.evenkeel.bus.BodyAnswer;
import dev.evenkeel.bus.Call;
import dev.evenkeel.bus.Calls;
import dev.evenkeel.bus.Calls.FindOffset;
import dev.evenkeel.bus.Calls.ReadBody;
import dev.evenkeel.bus.Calls.ReadBytes;
import dev.evenkeel.bus.Calls.ReadLease;
import dev.evenkeel.bus.Calls.ReadProducers;
import dev.evenkeel.bus.Calls.ReadShards;
import dev.evenkeel.bus.Calls.ToGroup;
import dev.evenkeel.bus.Frames;
import dev.evenkeel.bus.NodeLogs;
import dev.evenkeel.bus.Op;
import dev.evenkeel.bus.ShardStatus;
import dev.evenkeel.bus.ShareUse;
import dev.evenkeel.bus.share.Shares;
import dev.evenkeel.log.LogGroup;
import dev.evenkeel.log.LogNode;
import dev.evenkeel.log.LogStatus;
import dev.evenkeel.protocol.BuildVersion;
import dev.evenkeel.protocol.ClusterUser;
import dev.evenkeel.protocol.DataCommand;
import dev.evenkeel.protocol.Lease;
import dev.evenkeel.protocol.MetaCommand;
import dev.evenkeel.protocol.ProducerIds;
import dev.evenkeel.protocol.Reply;
import dev.evenkeel.protocol.Shard;
import dev.evenkeel.protocol.wire.Entry;
import dev.evenkeel.protocol.wire.FeatureLevel;
import dev.evenkeel.util.MonotonicClock;
import io.vertx.core.Future;
import io.vertx.core.buffer.Buffer;
import java.util.ArrayList;
import java.util.Collection;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.BiFunction;
import java.util.function.Function;
import java.util.stream.Stream;

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
  private final TableShares shares;
  private final List<CommitQueue> commits = new ArrayList<>();
  private final Map<Op, BiFunction<Buffer, Asker, Future<Buffer>>> answers =
      new EnumMap<>(Op.class);

  ControlService(
      ServeContext serve,
      FetchService fetches,
      GroupCommands commands,
      TopicProcedures topics,
      PeerLinks links,
      TableShares shares) {
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
    this.shares = shares;
    rates = new RateService(serve, commands, shares);
    answerAll();
  }

  void add(LogGroupServer group) {
    commits.add(new CommitQueue(group.log(), serve.context(), node::nowMillis));
  }

  /** Looks whether rates of groups have to go. */
  void lookAtRates() {
    rates.look();
  }

  private void answerAll() {
    by(
        Calls.SUBMIT_DATA,
        (asked, asker) -> submitData(asked, DataCommand.Submitted.class, asker.user()));
    on(Calls.MANAGE_SHARDS, asked -> submitData(asked, DataCommand.Managed.class, null));
    by(Calls.SUBMIT_META, (asked, asker) -> submitMeta(asked, asker.user()));
    by(
        Calls.CREATE_TOPIC,
        (asked, asker) ->
            topics.create(asked.name(), asked.shards(), asked.config(), asker.user()));
    on(Calls.CONFIGURE_TOPIC, asked -> topics.configure(asked.name(), asked.config()));
    on(Calls.RESHARD_TOPIC, asked -> topics.reshard(asked.name(), asked.shards()));
    on(Calls.DELETE_TOPIC, topics::delete);
    now(Calls.READ_GROUPS, none -> ofMeta(MetaTables::groups));
    now(Calls.READ_GROUP_LEASES, none -> ofMeta(MetaTables::groupLeases));
    now(Calls.READ_MOVES, none -> ofMeta(tables -> tables.moves().oldestFirst()));
    by(Calls.RESERVE, rates::reserve);
    now(Calls.READ_QUOTAS, none -> rates.read());
    now(Calls.READ_USERS, name -> ofMeta(tables -> users(tables, name)));
    now(Calls.READ_PRODUCERS, this::readProducers);
    by(Calls.READ_LEASE, this::readLease);
    now(Calls.READ_SHARDS, this::readShards);
    by(Calls.FIND_OFFSET, this::findOffset);
    by(Calls.READ_BYTES, this::readBytes);
    by(Calls.FETCH_RETRIES, failures::retries);
    by(Calls.READ_DEAD_LETTERS, failures::deadLetters);
    by(Calls.READ_RETRIES, failures::waiting);
    now(Calls.READ_FAILURES, failures::figures);
    by(Calls.READ_DELAYED, delayed::list);
    by(Calls.CANCEL_DELAYED, delayed::cancel);
    by(Calls.FIND_MOVED, delayed::findMoved);
    now(Calls.READ_LOGS, none -> readLogs());
    now(Calls.READ_SHARES, none -> readShares());
    on(Calls.READ_BODY, this::readBody);
    answers.put(Op.BROWSE, fetches::browse);
  }

  private <Q, A> void on(Call<Q, A> call, Function<Q, Future<A>> answer) {
    by(call, (asked, asker) -> answer.apply(asked));
  }

  /**
   * @param answer of a question by somebody
   */
  private <Q, A> void by(Call<Q, A> call, BiFunction<Q, Asker, Future<A>> answer) {
    answers.put(
        call.op(), (request, asker) -> answer.apply(call.asked(request), asker).map(call::answer));
  }

  private <Q, A> void now(Call<Q, A> call, Function<Q, A> answer) {
    on(call, asked -> Future.succeededFuture(answer.apply(asked)));
  }

  Future<Buffer> handle(Buffer request, Asker asker) {
    Op op = Frames.op(request);
    BiFunction<Buffer, Asker, Future<Buffer>> answer = answers.get(op);
    if (answer == null) {
      throw INVALID.error("%s is not for the control address of a broker", op);
    }
    return answer.apply(request, asker);
  }

  private static void requireAllowed(Class<?> allowed, Object command) {
    if (!allowed.isInstance(command)) {
      throw INVALID.error(command.getClass().getSimpleName() + " may not be submitted here");
    }
  }

  private Future<Reply> submitData(ToGroup asked, Class<?> allowed, String user) {
    LogGroupServer group = serve.group(asked.dataGroup());
    requireAllowed(allowed, asked.command());
    group.requireLeader();
    DataCommand command =
        asked.command() instanceof DataCommand.OpenProducer open
            ? owned(open, user, group.state().levelOfCluster())
            : asked.command();
    Future<Reply> answer =
        CommitQueue.takes(command)
            ? commits.get(groups.indexOf(group)).commit(command)
            : append(group, command);
    return serve.meters().commanded(command, answer);
  }

  /** Whatever the sender says, the producer is that of the user whose program it is. */
  private static DataCommand.OpenProducer owned(
      DataCommand.OpenProducer open, String user, int level) {
    long id = open.producerId();
    boolean unsaid = user != null && ProducerIds.tag(id) == 0 && level >= TABLE_OWNERS;
    return new DataCommand.OpenProducer(id, open.epoch(), unsaid ? ProducerIds.tagOf(user) : 0);
  }

  private Future<Reply> append(LogGroupServer group, DataCommand command) {
    return offsets
        .located(group, command)
        .compose(located -> commands.append(group.log(), Entry.of(located, node.nowMillis())));
  }

  /** A dispatcher sends commands of users as such. */
  private Future<Reply> submitMeta(MetaCommand asked, String sender) {
    MetaCommand command = asked instanceof MetaCommand.ByUser by ? by.command() : asked;
    String user = asked instanceof MetaCommand.ByUser by ? by.user() : sender;
    requireAllowed(MetaCommand.Submitted.class, command);
    LogGroup meta = node.log().meta();
    LogGroupServer.requireLeader(node.nodeId(), meta);
    return shares.append(
        user, command, each -> commands.append(meta, Entry.of(each, node.nowMillis())));
  }

  private Future<Reply> readLease(ReadLease asked, Asker asker) {
    String name = asked.group();
    Shard shard = asked.shard();
    boolean withStage = Boolean.TRUE.equals(asked.withStage());
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
        asker,
        () -> {
          Lease whole = group.state().leaseWithState(name, shard);
          if (whole == null) {
            throw UNKNOWN_GROUP.error("the lease has been forgotten");
          }
          return reply(whole, withStage);
        });
  }

  /** Without the stage, of which clients of earlier versions know nothing. */
  private static Reply reply(Lease lease, boolean withStage) {
    Lease plain = lease.forOwner();
    return new Reply.OfLease(withStage ? plain.at(lease.stage()) : plain);
  }

  private List<ShardStatus> readShards(ReadShards asked) {
    LogGroupServer group = serve.group(asked.dataGroup());
    group.requireReady();
    DataTables tables = group.state().tables();
    Stream<Map.Entry<Shard, ShardRecord>> shards =
        asked.topics() == null
            ? tables.shards().stream()
            : asked.topics().stream().flatMap(topic -> tables.shards(topic).stream());
    return shards.map(each -> status(group, each, asked.group())).toList();
  }

  private static ShardStatus status(
      LogGroupServer group, Map.Entry<Shard, ShardRecord> each, String only) {
    var record = each.getValue();
    DataTables tables = group.state().tables();
    List<Lease> leases =
        only == null
            ? tables.leasesOn(each.getKey())
            : Stream.ofNullable(tables.lease(only, each.getKey())).toList();
    return new ShardStatus(
        each.getKey(),
        record.start(),
        record.end(),
        record.bytes(),
        record.dropped(),
        leases,
        FailureService.on(group, each.getKey(), only),
        delayed(tables.delays().of(each.getKey())));
  }

  private static ShardStatus.Delayed delayed(DelayCounts counts) {
    return counts.isEmpty()
        ? ShardStatus.Delayed.NONE
        : new ShardStatus.Delayed(counts.messages(), counts.bytes(), counts.dueMillis());
  }

  private Future<Long> findOffset(FindOffset asked, Asker asker) {
    Shard shard = asked.shard();
    LogGroupServer group = serve.readyGroupOf(shard);
    return serve.read(
        asker,
        group,
        store -> {
          group.shard(shard);
          return OffsetFinder.find(store, group, shard, asked.start());
        });
  }

  private Future<Long> readBytes(ReadBytes asked, Asker asker) {
    Shard shard = asked.shard();
    LogGroupServer group = serve.readyGroupOf(shard);
    return serve.read(
        asker,
        group,
        store -> {
          ShardRecord record = group.shard(shard);
          long bytes =
              BatchIndex.position(store, shard, record, asked.to())
                  - BatchIndex.position(store, shard, record, asked.from());
          return Math.max(0, bytes);
        });
  }

  /** This node's copy, whoever leads. */
  private Future<BodyAnswer> readBody(ReadBody asked) {
    LogGroupServer group = serve.group(asked.dataGroup());
    return serve.read(Asker.NODE, () -> group.mender().have(asked.index()));
  }

  private static List<ClusterUser> users(MetaTables tables, String name) {
    if (name == null) {
      return tables.users();
    }
    ClusterUser found = tables.user(name);
    return found == null ? List.of() : List.of(found);
  }

  /** On this node, and in the log groups that it leads. */
  private List<ShareUse> readShares() {
    Shares known = Shares.of(serve.vertx());
    List<ShareUse> uses = new ArrayList<>(known.uses());
    if (leads(node.log().meta())) {
      uses.addAll(TableShares.uses(node.meta().tables()));
    }
    for (LogGroupServer group : groups) {
      if (leads(group.log())) {
        uses.addAll(TableShares.uses(group.log().name(), group.state().tables(), known::userOfTag));
      }
    }
    return uses;
  }

  private boolean leads(LogGroup log) {
    return node.nodeId().equals(log.leadership().leader());
  }

  private List<Long> readProducers(ReadProducers asked) {
    LogGroupServer group = serve.group(asked.dataGroup());
    group.requireReady();
    DataTables tables = group.state().tables();
    return asked.producers().stream().filter(id -> tables.producer(id) != null).toList();
  }

  /** All records of a kind in the meta log group. */
  private <T> List<T> ofMeta(Function<MetaTables, Collection<T>> known) {
    LogGroupServer.requireReady(node.nodeId(), node.log().meta());
    return List.copyOf(known.apply(node.meta().tables()));
  }

  private NodeLogs readLogs() {
    LogNode log = node.log();
    NodeLogs.Levels levels =
        new NodeLogs.Levels(
            FeatureLevel.reads(), node.meta().tables().featureLevel(), BuildVersion.number());
    List<NodeLogs.Group> known = node.logs().stream().map(this::known).toList();
    return new NodeLogs(
        log.nodeId(),
        node.host(),
        known,
        levels,
        disk(),
        links.unanswered(MonotonicClock.millis()));
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
    group
        .elections()
        .eligibility()
        .reasons()
        .forEach((why, detail) -> ineligible.put(why.name(), detail));
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
}
