package dev.evenkeel.broker.member;

import dev.evenkeel.log.LogGroup;
import dev.evenkeel.log.LogNode;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Looks from time to time who leads, and does what {@link LeaderSpread} decides. */
final class SpreadLoop {
  private static final Logger LOG = LoggerFactory.getLogger(SpreadLoop.class);
  private static final long CHECK_MILLIS = 1_000;

  private final Vertx vertx;
  private final PeerCalls calls;
  private final LogNode log;
  private final boolean dispatcher;
  private final LeaderSpread decider = new LeaderSpread();
  private boolean busy;
  private volatile boolean stopped;
  private volatile long timer = -1;

  SpreadLoop(Vertx vertx, PeerCalls calls, LogNode log, boolean dispatcher) {
    this.vertx = vertx;
    this.calls = calls;
    this.log = log;
    this.dispatcher = dispatcher;
  }

  void start() {
    if (log.nodes().size() > 1) {
      timer = vertx.setPeriodic(CHECK_MILLIS, id -> check());
    }
  }

  void stop() {
    stopped = true;
    vertx.cancelTimer(timer);
  }

  private void check() {
    List<LogGroup> groups = Membership.groups(log);
    boolean leads =
        groups.stream().anyMatch(group -> log.nodeId().equals(group.leadership().leader()));
    if (busy || stopped || !leads) {
      return;
    }
    busy = true;
    List<String> others = log.nodes().stream().filter(node -> !node.equals(log.nodeId())).toList();
    calls.cards(others).compose(answers -> act(groups, answers)).onComplete(done -> busy = false);
  }

  private Future<Void> act(List<LogGroup> groups, Map<String, Peer> answers) {
    Map<String, LeaderSpread.Node> nodes = new HashMap<>();
    nodes.put(log.nodeId(), new LeaderSpread.Node(dispatcher, true));
    answers.forEach(
        (node, peer) -> nodes.put(node, new LeaderSpread.Node(peer.dispatcher(), peer.serving())));
    List<LeaderSpread.Group> seen = new ArrayList<>();
    for (LogGroup group : groups) {
      seen.add(
          new LeaderSpread.Group(
              group.name(),
              group.leadership().leader(),
              group.leadership().ready(),
              group.status().commitIndex(),
              group.followers()));
    }
    LeaderSpread.Move move =
        decider.next(System.currentTimeMillis(), log.nodeId(), log.nodes(), nodes, seen);
    if (move == null || stopped) {
      return Future.succeededFuture();
    }
    LogGroup group =
        groups.stream().filter(each -> each.name().equals(move.group())).findFirst().orElseThrow();
    LOG.info("group {}: giving the leadership to {}, whose share it is", move.group(), move.node());
    return Future.fromCompletionStage(
            group.handLeadershipTo(move.node()), vertx.getOrCreateContext())
        .recover(
            failure -> {
              LOG.info("group {}: {} did not take over: {}", move.group(), move.node(), failure);
              return Future.succeededFuture();
            });
  }
}
