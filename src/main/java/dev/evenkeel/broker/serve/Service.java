package dev.evenkeel.broker.serve;

import static dev.evenkeel.protocol.Refusal.INVALID;

import dev.evenkeel.broker.node.BrokerNode;
import dev.evenkeel.broker.node.BrokerOptions;
import dev.evenkeel.broker.quota.QuotaMeters;
import dev.evenkeel.broker.state.MetaTables;
import dev.evenkeel.bus.Addresses;
import dev.evenkeel.bus.Asker;
import dev.evenkeel.bus.BodyAnswer;
import dev.evenkeel.bus.Calls;
import dev.evenkeel.bus.ClusterView;
import dev.evenkeel.bus.Frames;
import dev.evenkeel.bus.LeaderChange;
import dev.evenkeel.bus.LocalPauses;
import dev.evenkeel.bus.LocalUsers;
import dev.evenkeel.bus.NodeLogs;
import dev.evenkeel.bus.NodePlace;
import dev.evenkeel.bus.Op;
import dev.evenkeel.bus.VertxLink;
import dev.evenkeel.bus.ViewQuestion;
import dev.evenkeel.bus.ViewSince;
import dev.evenkeel.bus.meters.MeterScope;
import dev.evenkeel.bus.rate.LocalQuotas;
import dev.evenkeel.bus.share.FairShare;
import dev.evenkeel.bus.share.Scarce;
import dev.evenkeel.bus.share.Shares;
import dev.evenkeel.log.Leadership;
import dev.evenkeel.log.LogGroup;
import dev.evenkeel.log.LogNode;
import dev.evenkeel.protocol.ClusterNode;
import dev.evenkeel.protocol.ClusterUser;
import dev.evenkeel.protocol.NodePorts;
import dev.evenkeel.protocol.Pause;
import dev.evenkeel.protocol.Shard;
import dev.evenkeel.protocol.TopicInfo;
import dev.evenkeel.util.MonotonicClock;
import io.vertx.core.Context;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.buffer.Buffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.stream.Stream;

/** Answers all requests to a broker. Made and used on one context. */
public final class Service {
  private static final long PEER_MILLIS_MAX = 1_500;
  private static final long LINK_MILLIS_MAX = 2_000;
  private static final long BODY_MILLIS_MAX = 4_000;

  private final BrokerNode node;
  private final Vertx vertx;
  private final List<LogGroupServer> groups = new CopyOnWriteArrayList<>();
  private final List<Announcer> announcers = new ArrayList<>();
  private final ServeContext serve;
  private final NodeQuotas quotas;
  private final AppendService appends;
  private final FetchService fetches;
  private final ControlService control;
  private final TopicProcedures topics;
  private final ShardTending tending;
  private final DelayedMoves delayedMoves;
  private final NameTending names;
  private final BrokerMetrics figures;
  private final LevelRaiser levels;
  private final ReplicaComparison comparison;
  private final CopyRenewal renewal;
  private final PeerLinks links;
  private boolean asking;
  private final KeptView wholeView = new KeptView();

  /** For those who know all topics. */
  private final KeptView sameTopics = new KeptView();

  /** The log reports leaders even after the verticle's context has ended. */
  private volatile boolean closed;

  /**
   * @param meters what is counted while serving
   * @param scope for what is read when somebody looks
   */
  public Service(
      BrokerNode node,
      Vertx vertx,
      Context context,
      BrokerOptions options,
      RequestMetrics meters,
      MeterScope scope) {
    this.node = node;
    this.vertx = vertx;
    LogNode log = node.log();
    node.maintenance().askReplicas(this::readBody);
    LookQueue reads = new LookQueue(node.readThreads());
    FairShare readsShare = Shares.of(vertx).divide(Scarce.READS, BrokerNode.READS_WAITING_MAX);
    serve = new ServeContext(node, groups, vertx, context, options, meters, reads, readsShare);
    GroupCommands commands = new GroupCommands(serve);
    TableShares shares = new TableShares(() -> node.meta().tables(), Shares.of(vertx)::weight);
    topics = new TopicProcedures(serve, commands, shares);
    tending = new ShardTending(serve, commands);
    delayedMoves = new DelayedMoves(serve, commands);
    names = new NameTending(serve, commands);
    quotas = new NodeQuotas(serve, new QuotaMeters(scope));
    appends = new AppendService(serve, quotas);
    fetches = new FetchService(serve, quotas);
    node.meta().onResumed(() -> serve.run(fetches.pauses()::resumed));
    links = new PeerLinks(node.nodeId());
    control = new ControlService(serve, fetches, commands, topics, links, shares);
    figures = new BrokerMetrics(node, groups, context, this::queues, scope);
    levels = new LevelRaiser(serve);
    comparison = new ReplicaComparison(node);
    renewal = new CopyRenewal(log);
    log.meta()
        .elections()
        .onLeadership(
            leadership -> {
              announce(ClusterView.META, leadership);
              serve.run(this::lookAtPeers);
            });
    serve.run(this::lookAtPeers);
    addGroups();
  }

  /** Serves the data log groups that the node has opened. */
  private void addGroups() {
    while (groups.size() < node.data().size() && !closed) {
      add(groups.size());
    }
  }

  private void add(int index) {
    LogGroupServer group =
        new LogGroupServer(
            node.nodeId(),
            node.log().data().get(index),
            node.data().get(index),
            node.maintenance().mender(index));
    groups.add(group);
    appends.add(group);
    control.add(group);
    figures.add(group, index);
    DueTimer due = new DueTimer(serve, group);
    announcers.add(new Announcer(serve, group, fetches.waiting(), due));
    group
        .log()
        .elections()
        .onLeadership(
            leadership -> {
              announce(index, leadership);
              if (!closed) {
                due.lookSoon();
                serve.run(levels::bringGroups);
                serve.run(() -> fetches.waiting().changed(shard -> serve.numberOf(shard) == index));
              }
            });
    // Messages may have become due while nobody served.
    due.lookSoon();
  }

  /** Another node has said who leads: this one need not have a vote in each log group. */
  public void heardLeaders(Buffer body) {
    LeaderChange.News news;
    try {
      news = LeaderChange.News.fromJson(body.toJsonObject());
    } catch (RuntimeException e) {
      // Whoever may send to the bus may send anything.
      return;
    }
    for (LeaderChange leader : news.leaders()) {
      if (leader.group() >= 0
          && leader.group() < groups.size()
          && node.log().nodes().contains(leader.node())) {
        groups.get(leader.group()).log().elections().heard(leader.node(), leader.term());
      }
    }
  }

  /** Clients that wait for a leader should not have to ask again and again. */
  private void announce(int group, Leadership leadership) {
    if (!closed && node.nodeId().equals(leadership.leader())) {
      LeaderChange leader = new LeaderChange(group, node.nodeId(), leadership.term());
      serve.run(() -> publish(new LeaderChange.News(List.of(leader), true)));
    }
  }

  private void publish(LeaderChange.News news) {
    vertx.eventBus().publish(Addresses.LEADER_CHANGES, news.toJson());
  }

  /**
   * Announces all leaders, for clients that missed a change; called from time to time. It also
   * keeps the event bus's list of listeners fresh for the moment when this node begins to lead.
   */
  public void tellLeaders() {
    List<LeaderChange> known = new ArrayList<>();
    int number = ClusterView.META;
    for (LogGroup group : node.log().all()) {
      Leadership leadership = group.leadership();
      if (leadership.leader() != null) {
        known.add(new LeaderChange(number, leadership.leader(), leadership.term()));
      }
      number++;
    }
    publish(new LeaderChange.News(known, false));
  }

  private BrokerMetrics.Queues queues() {
    return new BrokerMetrics.Queues(
        appends.queues(), fetches.waiting().count(), serve.reads().waiting());
  }

  /** The quotas that this node keeps. */
  public LocalQuotas quotas() {
    return quotas;
  }

  /** What groups are paused, as this node knows it. */
  public LocalPauses pauses() {
    return new LocalPauses() {
      @Override
      public boolean isPaused(String group) {
        return node.meta().tables().isPaused(group);
      }

      @Override
      public boolean isPaused(String group, Shard shard) {
        return node.meta().tables().isPaused(group, shard);
      }

      @Override
      public Set<Pause> of(String group) {
        return node.meta().tables().pauses(group);
      }
    };
  }

  /** The users that the cluster keeps, as this node knows it. */
  public LocalUsers users() {
    return new LocalUsers() {
      @Override
      public Object version() {
        return node.log().meta().copy().caughtUp() ? node.meta().tables().usersVersion() : null;
      }

      @Override
      public List<ClusterUser> all() {
        return node.meta().tables().users();
      }
    };
  }

  /** Answers a request to the data address. */
  public Future<Buffer> data(Buffer request, Asker asker) {
    Op op = Frames.op(request);
    return switch (op) {
      case APPEND -> appends.append(request, asker);
      case MOVE_DELAYED -> appends.move(request);
      case FETCH -> fetches.fetch(request, asker);
      case FETCH_MANY -> fetches.fetchMany(request, asker);
      case BROWSE -> fetches.browse(request, asker);
      case AWAIT_REPLICAS -> appends.awaitReplicas(request, asker);
      default -> throw INVALID.error(op + " belongs to the control address");
    };
  }

  /** The client of a connection has left: nobody waits for its fetches. */
  public void connectionEnded(String connection) {
    fetches.waiting().connectionEnded(connection);
  }

  /** Answers a request to the control address. */
  public Future<Buffer> control(Buffer request, Asker asker) {
    return control.handle(request, asker);
  }

  /**
   * The leaders that this node knows, the cluster's time, and the active topics; or of these, if
   * the question says what the asker knows, only what has changed since.
   */
  public Buffer answerView(Buffer question) {
    // Read before the topics, so that the topics are at least as new.
    ViewBasis basis = basis();
    ViewSince since = basis.caughtUp ? ViewSince.of(question) : null;
    MetaTables tables = basis.tables;
    Set<Integer> changed =
        since != null && since.cluster().equals(node.log().clusterId())
            ? tables.topicChanges().since(since.metaIndex())
            : null;
    long clockMillis = node.clock().millis();
    if (changed == null) {
      return wholeView.answer(
          basis, () -> view(basis, active(basis, tables.topics().stream())).toJson(), clockMillis);
    }
    if (changed.isEmpty()) {
      return sameTopics.answer(basis, () -> view(basis, List.of()).toJson(Set.of()), clockMillis);
    }
    List<TopicInfo> active =
        active(basis, changed.stream().sorted().map(tables::topic).filter(Objects::nonNull));
    active.forEach(topic -> changed.remove(topic.id()));
    return view(basis, active).toJson(changed).put(ViewQuestion.CLOCK, clockMillis).toBuffer();
  }

  private static List<TopicInfo> active(ViewBasis basis, Stream<TopicInfo> topics) {
    return topics.filter(each -> basis.caughtUp && each.state() == TopicInfo.State.ACTIVE).toList();
  }

  /**
   * What a view is made of.
   *
   * @param tables of meta, as they are at the index; a snapshot brings others
   * @param leaderships of the data log groups that work
   */
  private record ViewBasis(
      MetaTables tables,
      boolean caughtUp,
      long metaIndex,
      Leadership meta,
      List<Leadership> leaderships,
      List<String> nodes) {}

  private ViewBasis basis() {
    LogNode log = node.log();
    boolean caughtUp = log.meta().copy().caughtUp();
    long metaIndex = log.meta().status().appliedIndex();
    // Those that do not work yet are nobody's business.
    List<Leadership> leaderships =
        log.data().subList(0, serve.openGroups()).stream().map(LogGroup::leadership).toList();
    MetaTables tables = node.meta().tables();
    return new ViewBasis(
        tables, caughtUp, metaIndex, log.meta().leadership(), leaderships, log.nodes());
  }

  private ClusterView view(ViewBasis basis, List<TopicInfo> active) {
    LogNode log = node.log();
    List<String> leaders = new ArrayList<>();
    List<Long> terms = new ArrayList<>();
    for (Leadership leadership : basis.leaderships) {
      leaders.add(leadership.leader());
      terms.add(leadership.term());
    }
    return new ClusterView(
        log.clusterId(),
        node.nodeId(),
        basis.meta.leader(),
        leaders,
        basis.nodes,
        active,
        basis.meta.term(),
        terms,
        basis.caughtUp,
        basis.metaIndex,
        places(),
        log.formedGroups(),
        node.meta().tables().featureLevel(),
        0);
  }

  private List<NodePlace> places() {
    return node.meta().tables().nodes().stream()
        .filter(ClusterNode::joined)
        .map(each -> new NodePlace(each.id(), each.host(), NodePorts.client(each.port())))
        .toList();
  }

  /** Continues what was left undone; called from time to time. */
  public void reconcile() {
    addGroups();
    topics.reconcile();
    tending.look();
    delayedMoves.look();
    names.look();
    levels.bringGroups();
    lookAtPeers();
  }

  private void lookAtPeers() {
    if (closed || asking || !levels.asks()) {
      return;
    }
    asking = true;
    askPeers()
        .onComplete(
            answers -> {
              asking = false;
              levels.look(answers.result());
            });
  }

  /**
   * Asks the other nodes about their logs. Completes with the answers by node; nodes that do not
   * answer are missing.
   */
  private Future<Map<String, NodeLogs>> askPeers() {
    Map<String, NodeLogs> answers = new TreeMap<>();
    List<Future<?>> asked = new ArrayList<>();
    for (String other : node.others()) {
      asked.add(
          VertxLink.send(
                  vertx, Addresses.control(other), Calls.READ_LOGS.request(null), PEER_MILLIS_MAX)
              .map(Calls.READ_LOGS::answered)
              .onSuccess(logs -> answers.put(other, logs)));
    }
    return Future.join(asked).transform(done -> Future.succeededFuture(answers));
  }

  /** Asks a node for the body of a log entry. */
  private CompletableFuture<BodyAnswer> readBody(String other, String group, long index) {
    int number = node.log().data().stream().map(LogGroup::name).toList().indexOf(group);
    return VertxLink.send(
            vertx,
            Addresses.control(other),
            Calls.READ_BODY.request(new Calls.ReadBody(number, index)),
            BODY_MILLIS_MAX)
        .map(Calls.READ_BODY::answered)
        .toCompletionStage()
        .toCompletableFuture();
  }

  /** Asks the other nodes whether they answer; called from time to time. */
  public void lookAtLinks() {
    control.lookAtRates();
    for (String other : links.ask(node.others())) {
      long asked = MonotonicClock.millis();
      // An empty request, which is refused: that is an answer.
      VertxLink.send(vertx, Addresses.control(other), Buffer.buffer(), LINK_MILLIS_MAX)
          .onComplete(
              answer ->
                  serve.run(
                      () -> links.ended(other, answer.cause(), asked, MonotonicClock.millis())));
    }
  }

  /** Compares the copies of all nodes; called from time to time. */
  public void compareReplicas() {
    if (!closed) {
      askPeers()
          .onComplete(
              answers -> {
                comparison.look(answers.result());
                renewal.look(answers.result());
              });
    }
  }

  /** Stops listening to the state, and answers all waiting requests. */
  public void close() {
    closed = true;
    delayedMoves.close();
    figures.close();
    announcers.forEach(Announcer::close);
    node.meta().onResumed(() -> {});
    fetches.close();
  }
}
