package dev.evenkeel.broker.member;

import dev.evenkeel.bus.ClusterInSight;
import dev.evenkeel.bus.LocalObjects;
import dev.evenkeel.log.Eligibility.Reason;
import dev.evenkeel.log.LogGroup;
import dev.evenkeel.log.LogNode;
import dev.evenkeel.util.MonotonicClock;
import io.vertx.core.Context;
import io.vertx.core.Future;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Checks every second who leads, and at once when this node leads a log group that it should not
 * lead. Then it does what {@link LeaderBalancer} decides.
 */
final class LeaderBalancerLoop {
  private static final Logger LOG = LoggerFactory.getLogger(LeaderBalancerLoop.class);
  private static final long CHECK_MILLIS = 1_000;

  private final Context context;
  private final PeerCalls calls;
  private final LogNode log;
  private final Supplier<Peer> own;
  private final Supplier<Map<String, List<String>>> placement;
  private final LeaderBalancer decider = new LeaderBalancer();
  private final ViewWatch view = new ViewWatch();
  private volatile boolean stopped;
  private volatile long timer = -1;

  // On the context only.
  private boolean busy;
  private boolean again;

  /**
   * @param own what this node reports about itself
   * @param placement which nodes are to vote in each log group, by its name; all in those that are
   *     missing
   */
  LeaderBalancerLoop(
      PeerCalls calls,
      LogNode log,
      Supplier<Peer> own,
      Supplier<Map<String, List<String>>> placement) {
    this.placement = placement;
    this.context = calls.vertx().getOrCreateContext();
    this.calls = calls;
    this.log = log;
    this.own = own;
  }

  void start() {
    timer =
        calls
            .vertx()
            .setPeriodic(
                CHECK_MILLIS,
                id -> {
                  judgeView();
                  look();
                });
    for (LogGroup group : log.all()) {
      group.elections().eligibility().onChange(() -> lookIfUnfit(group));
      group.elections().onLeadership(leadership -> lookIfUnfit(group));
    }
    look();
  }

  void stop() {
    stopped = true;
    calls.vertx().cancelTimer(timer);
  }

  private void judgeView() {
    ClusterInSight inSight = LocalObjects.get(calls.vertx(), ClusterInSight.class);
    if (inSight == null) {
      return;
    }
    int seen = inSight.members().getAsInt();
    int nodes = log.nodes().size();
    boolean outside = view.outside(seen, nodes, MonotonicClock.millis());
    String why =
        "this node sees %s of the %s nodes: repair the network between the nodes"
            .formatted(seen, nodes);
    log.all()
        .forEach(
            group -> group.elections().eligibility().set(Reason.OUT_OF_VIEW, outside ? why : null));
  }

  private void lookIfUnfit(LogGroup group) {
    if (!group.elections().eligibility().eligible()
        && log.nodeId().equals(group.leadership().leader())) {
      look();
    }
  }

  private void look() {
    if (!stopped) {
      context.runOnContext(now -> check());
    }
  }

  private void check() {
    List<LogGroup> groups = log.all();
    boolean leads =
        groups.stream().anyMatch(group -> log.nodeId().equals(group.leadership().leader()));
    again = busy;
    if (busy || stopped || !leads || log.nodes().size() == 1) {
      return;
    }
    busy = true;
    calls
        .peers(log.others())
        .compose(answers -> act(groups, answers))
        .onComplete(done -> context.runOnContext(now -> finished()));
  }

  private void finished() {
    busy = false;
    if (again) {
      check();
    }
  }

  private Future<Void> act(List<LogGroup> groups, Map<String, Peer> answers) {
    Map<String, LeaderBalancer.Node> nodes = new HashMap<>();
    nodes.put(log.nodeId(), node(own.get()));
    answers.forEach((node, peer) -> nodes.put(node, node(peer)));
    List<LeaderBalancer.Group> seen = new ArrayList<>();
    for (LogGroup group : groups) {
      seen.add(
          new LeaderBalancer.Group(
              group.name(),
              group.leadership().leader(),
              group.leadership().ready(),
              group.status().commitIndex(),
              group.voters().followers()));
    }
    LeaderBalancer.Move move =
        decider.next(
            System.currentTimeMillis(), log.nodeId(), log.nodes(), nodes, seen, this::voters);
    if (move == null || stopped) {
      return Future.succeededFuture();
    }
    LogGroup group =
        groups.stream().filter(each -> each.name().equals(move.group())).findFirst().orElseThrow();
    String why =
        move.unfit()
            ? "because this node should not lead it " + group.elections().eligibility().reasons()
            : "to balance the load";
    LOG.info("log group {}: giving the leadership to {}, {}", move.group(), move.node(), why);
    return Future.fromCompletionStage(group.elections().handLeadershipTo(move.node()), context)
        // There may be more that this node should not lead.
        .onSuccess(done -> again |= move.unfit())
        .recover(
            failure -> {
              decider.refused(move, System.currentTimeMillis());
              LOG.info(
                  "log group {}: {} did not take over: {}",
                  move.group(),
                  move.node(),
                  failure.toString());
              return Future.succeededFuture();
            });
  }

  private List<String> voters(String group) {
    List<String> placed = placement.get().get(group);
    return placed == null ? log.nodes() : placed;
  }

  private static LeaderBalancer.Node node(Peer peer) {
    return new LeaderBalancer.Node(peer.serving(), peer.unfit());
  }
}
