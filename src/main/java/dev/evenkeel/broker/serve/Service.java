package dev.evenkeel.broker.serve;

import dev.evenkeel.broker.node.BrokerNode;
import dev.evenkeel.bus.Addresses;
import dev.evenkeel.bus.ClusterView;
import dev.evenkeel.bus.Frames;
import dev.evenkeel.bus.LeaderChange;
import dev.evenkeel.bus.Op;
import dev.evenkeel.bus.meters.MeterScope;
import dev.evenkeel.log.Leadership;
import dev.evenkeel.log.LogGroup;
import dev.evenkeel.log.LogNode;
import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.RefusedException;
import dev.evenkeel.protocol.TopicInfo;
import io.vertx.core.Context;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.buffer.Buffer;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Executor;

/** All that a broker answers. Made and used on one context. */
public final class Service {
  private final BrokerNode node;
  private final Vertx vertx;
  private final List<LogGroupServer> groups = new ArrayList<>();
  private final List<Announcer> announcers = new ArrayList<>();
  private final List<DueTimer> dueTimers = new ArrayList<>();
  private final AppendService appends;
  private final ReplicaService replicas;
  private final FetchService fetches;
  private final ControlService control;
  private final TopicProcedures topics;
  private final BrokerFigures figures;
  private final PeerLogs peers;
  private final LevelRaiser levels;
  private final ReplicaComparison comparison;
  private boolean asking;

  /** The log goes on telling of leaders after the verticle's context has ended. */
  private volatile boolean closed;

  /**
   * @param meters what is counted while serving
   * @param scope for what is read when somebody looks
   */
  public Service(
      BrokerNode node,
      Vertx vertx,
      Context context,
      ServeOptions options,
      RequestMeters meters,
      MeterScope scope) {
    this.node = node;
    this.vertx = vertx;
    Executor onContext = task -> context.runOnContext(ignored -> task.run());
    LogNode log = node.log();
    for (int i = 0; i < log.data().size(); i++) {
      groups.add(new LogGroupServer(node.nodeId(), log.data().get(i), node.data().get(i)));
    }
    GroupCommands commands = new GroupCommands(groups, vertx, context, node::nowMillis);
    topics =
        new TopicProcedures(
            node.nodeId(),
            log.meta(),
            node.meta(),
            groups,
            commands,
            vertx,
            node::nowMillis,
            options.procedureMillisMax());
    appends = new AppendService(groups, node.disk(), onContext, node::nowMillis, options, meters);
    replicas = new ReplicaService(groups, context);
    fetches = new FetchService(groups, vertx, node.readers(), options.fetchesWaitingMax(), meters);
    control = new ControlService(node, groups, fetches, commands, topics, vertx, meters);
    figures = new BrokerFigures(node, groups, context, this::queues, scope);
    List<String> others = node.others();
    peers = new PeerLogs(vertx, others);
    levels = new LevelRaiser(log.meta(), node.meta(), groups, others, node::nowMillis);
    comparison = new ReplicaComparison(node);
    log.meta()
        .onLeadership(
            leadership -> {
              announce(onContext, ClusterView.META, leadership);
              onContext.execute(this::lookAtPeers);
            });
    onContext.execute(this::lookAtPeers);
    for (int i = 0; i < groups.size(); i++) {
      LogGroupServer group = groups.get(i);
      int index = i;
      DueTimer due = new DueTimer(group, vertx, onContext, node.clock(), meters);
      dueTimers.add(due);
      Announcer announcer = new Announcer(group, fetches, vertx, onContext, due);
      announcers.add(announcer);
      group.state().listen(announcer);
      group
          .log()
          .onLeadership(
              leadership -> {
                announce(onContext, index, leadership);
                if (!closed) {
                  due.tell();
                  onContext.execute(levels::bringGroups);
                  onContext.execute(
                      () -> fetches.changed(shard -> shard.dataGroup(groups.size()) == index));
                }
              });
      // What was due while nobody served.
      due.tell();
    }
  }

  /** Whoever waits for a leader should not have to ask for it again and again. */
  private void announce(Executor onContext, int group, Leadership leadership) {
    if (!closed && node.nodeId().equals(leadership.leader())) {
      LeaderChange leader = new LeaderChange(group, node.nodeId(), leadership.term());
      onContext.execute(() -> publish(new LeaderChange.News(List.of(leader), true)));
    }
  }

  private void publish(LeaderChange.News news) {
    vertx.eventBus().publish(Addresses.LEADER_CHANGES, news.toJson());
  }

  /**
   * Tells everybody who leads what, for those who missed it; called from time to time. It also
   * keeps the event bus's knowledge of who listens fresh for the moment when this node begins to
   * lead.
   */
  public void tellLeaders() {
    ClusterView view = view();
    List<LeaderChange> known = new ArrayList<>();
    for (int group = ClusterView.META; group < view.dataLeaders().size(); group++) {
      if (view.leader(group) != null) {
        known.add(new LeaderChange(group, view.leader(group), view.term(group)));
      }
    }
    publish(new LeaderChange.News(known, false));
  }

  private BrokerFigures.Queues queues() {
    return new BrokerFigures.Queues(appends.queues(), fetches.waiting());
  }

  /** Answers what comes to the data address. */
  public Future<Buffer> data(Buffer request) {
    Op op = Frames.op(request);
    if (op == Op.APPEND) {
      return appends.append(request);
    }
    if (op == Op.FETCH) {
      return fetches.fetch(request);
    }
    if (op == Op.BROWSE) {
      return fetches.browse(request);
    }
    if (op == Op.AWAIT_REPLICAS) {
      return replicas.await(request);
    }
    throw new RefusedException(Refusal.INVALID, op + " belongs to the control address");
  }

  /** Answers what comes to the control address. */
  public Future<Buffer> control(Buffer request) {
    return control.handle(request);
  }

  /** Who leads what, as far as this node knows, and the active topics. */
  public ClusterView view() {
    LogNode log = node.log();
    List<String> leaders = new ArrayList<>();
    List<Long> terms = new ArrayList<>();
    for (LogGroup group : log.data()) {
      Leadership leadership = group.leadership();
      leaders.add(leadership.leader());
      terms.add(leadership.term());
    }
    Leadership meta = log.meta().leadership();
    // Before the topics are read, which are at least as new then.
    boolean caughtUp = log.meta().caughtUp();
    long metaIndex = log.meta().status().appliedIndex();
    List<TopicInfo> active =
        node.meta().tables().topics().stream()
            .filter(topic -> caughtUp && topic.state() == TopicInfo.State.ACTIVE)
            .toList();
    return new ClusterView(
        log.clusterId(),
        node.nodeId(),
        meta.leader(),
        leaders,
        log.nodes(),
        active,
        meta.term(),
        terms,
        caughtUp,
        metaIndex);
  }

  /** Takes up what was left undone; called from time to time. */
  public void reconcile() {
    topics.reconcile();
    levels.bringGroups();
    lookAtPeers();
  }

  private void lookAtPeers() {
    if (closed || asking || !levels.asks()) {
      return;
    }
    asking = true;
    peers
        .ask()
        .onComplete(
            answers -> {
              asking = false;
              levels.look(answers.result());
            });
  }

  /** Asks the other nodes what their states are like; called from time to time. */
  public void compareReplicas() {
    if (!closed) {
      peers.ask().onComplete(answers -> comparison.look(answers.result()));
    }
  }

  /** Fetches that wait for messages now. */
  public int fetchesWaiting() {
    return fetches.waiting();
  }

  /** Stops listening to the state, and answers who waits. */
  public void close() {
    closed = true;
    figures.close();
    dueTimers.forEach(DueTimer::close);
    for (int i = 0; i < groups.size(); i++) {
      groups.get(i).state().unlisten(announcers.get(i));
    }
    fetches.close();
  }
}
