package dev.evenkeel.broker.serve;

import dev.evenkeel.broker.BrokerNode;
import dev.evenkeel.bus.ClusterView;
import dev.evenkeel.bus.Frames;
import dev.evenkeel.bus.Op;
import dev.evenkeel.bus.meters.MeterScope;
import dev.evenkeel.log.LogGroup;
import dev.evenkeel.log.LogNode;
import dev.evenkeel.model.Refusal;
import dev.evenkeel.model.RefusedException;
import dev.evenkeel.model.TopicInfo;
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
  private final List<ServedGroup> groups = new ArrayList<>();
  private final List<Announcer> announcers = new ArrayList<>();
  private final AppendService appends;
  private final FetchService fetches;
  private final ControlService control;
  private final TopicProcedures topics;
  private final BrokerFigures figures;

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
    Executor onContext = task -> context.runOnContext(ignored -> task.run());
    LogNode log = node.log();
    for (int i = 0; i < log.data().size(); i++) {
      groups.add(new ServedGroup(node.nodeId(), log.data().get(i), node.data().get(i)));
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
    fetches = new FetchService(groups, vertx, node.readers(), options.fetchesWaitingMax(), meters);
    control = new ControlService(node, groups, fetches, commands, topics, vertx, meters);
    figures = new BrokerFigures(node, groups, context, this::queues, scope);
    for (int i = 0; i < groups.size(); i++) {
      ServedGroup group = groups.get(i);
      int index = i;
      Announcer announcer = new Announcer(group, fetches, vertx, onContext);
      announcers.add(announcer);
      group.state().listen(announcer);
      group
          .log()
          .onLeadership(
              any -> {
                if (!closed) {
                  onContext.execute(
                      () -> fetches.changed(shard -> shard.dataGroup(groups.size()) == index));
                }
              });
    }
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
    for (LogGroup group : log.data()) {
      leaders.add(group.leadership().leader());
    }
    List<TopicInfo> active =
        node.meta().tables().topics().stream()
            .filter(topic -> topic.state() == TopicInfo.State.ACTIVE)
            .toList();
    return new ClusterView(
        log.clusterId(),
        node.nodeId(),
        log.meta().leadership().leader(),
        leaders,
        log.nodes(),
        active);
  }

  /** Takes up what was left undone; called from time to time. */
  public void reconcile() {
    topics.reconcile();
  }

  /** Fetches that wait for messages now. */
  public int fetchesWaiting() {
    return fetches.waiting();
  }

  /** Stops listening to the state, and answers who waits. */
  public void close() {
    closed = true;
    figures.close();
    for (int i = 0; i < groups.size(); i++) {
      groups.get(i).state().unlisten(announcers.get(i));
    }
    fetches.close();
  }
}
