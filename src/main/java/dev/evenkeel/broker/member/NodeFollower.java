package dev.evenkeel.broker.member;

import dev.evenkeel.broker.node.BrokerNode;
import dev.evenkeel.bus.MemberQuestions.Known;
import dev.evenkeel.bus.MemberQuestions.OfNode;
import dev.evenkeel.log.Eligibility.Reason;
import dev.evenkeel.log.LogNode;
import dev.evenkeel.log.LogSettings;
import dev.evenkeel.protocol.ClusterNode;
import dev.evenkeel.protocol.ClusterNode.State;
import dev.evenkeel.protocol.NodePorts;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Follows what meta says of the nodes, once a second: notes on the disk which nodes there are,
 * opens log groups that were added, gives leaderships away while this node is drained, and ends
 * this node when it is in the cluster no more.
 */
final class NodeFollower {
  private static final Logger LOG = LoggerFactory.getLogger(NodeFollower.class);
  private static final long LOOK_MILLIS = 1_000;
  private static final long ANSWER_MILLIS_MAX = 2_000;

  /** A node that knows no leader for this long asks whether it is still in the cluster. */
  private static final long LEADERLESS_MILLIS = 10_000;

  private final PeerCalls calls;
  private final BrokerNode node;
  private final LogNode log;
  private final Consumer<List<ClusterNode>> known;
  private List<ClusterNode> before = List.of();
  private long ledAtNanos = System.nanoTime();
  private boolean asking;
  private boolean opening;
  private volatile long timer = -1;

  /**
   * @param known gets the nodes whenever they change
   */
  NodeFollower(PeerCalls calls, BrokerNode node, Consumer<List<ClusterNode>> known) {
    this.calls = calls;
    this.node = node;
    this.log = node.log();
    this.known = known;
  }

  void start() {
    look();
    timer = calls.vertx().setPeriodic(LOOK_MILLIS, id -> look());
  }

  void stop() {
    calls.vertx().cancelTimer(timer);
  }

  private void look() {
    List<ClusterNode> now = List.copyOf(node.meta().tables().nodes());
    if (!now.equals(before) && !now.isEmpty()) {
      before = now;
      follow(now);
    } else if (!opening && node.meta().tables().addedGroups().size() > added()) {
      openAddedGroups();
    }
    if (log.meta().leadership().leader() != null) {
      ledAtNanos = System.nanoTime();
    } else if (System.nanoTime() - ledAtNanos > TimeUnit.MILLISECONDS.toNanos(LEADERLESS_MILLIS)) {
      askIfKnown();
    }
  }

  private int added() {
    return log.data().size() - log.formedGroups();
  }

  private void openAddedGroups() {
    opening = true;
    calls
        .vertx()
        .executeBlocking(node::openAddedGroups)
        .onComplete(
            done -> {
              opening = false;
              // They are to know, too, whether this node gives its leaderships away.
              before = List.of();
              if (done.failed()) {
                LOG.warn(
                    "an added log group cannot be opened, and will be tried again: {}",
                    done.cause().toString());
              }
            });
  }

  private void follow(List<ClusterNode> now) {
    List<LogSettings.Peer> peers = peers(now);
    String state =
        now.stream()
            .filter(each -> each.id().equals(log.nodeId()))
            .filter(each -> each.state() == State.DRAINING || each.state() == State.LEAVING)
            .map(each -> "it gives its copies away")
            .findFirst()
            .orElse(null);
    log.all().forEach(group -> group.elections().eligibility().set(Reason.DRAINING, state));
    known.accept(now);
    if (peers.stream().noneMatch(each -> each.nodeId().equals(log.nodeId()))) {
      return;
    }
    calls
        .vertx()
        .executeBlocking(
            () -> {
              log.setPeers(peers);
              return null;
            })
        .onFailure(
            failure -> {
              LOG.warn("the nodes of the cluster cannot be noted: {}", failure.toString());
              before = List.of();
            });
  }

  private static List<LogSettings.Peer> peers(Collection<ClusterNode> nodes) {
    List<LogSettings.Peer> peers = new ArrayList<>();
    nodes.stream()
        .filter(ClusterNode::joined)
        .forEach(
            each ->
                peers.add(
                    new LogSettings.Peer(each.id(), each.host(), NodePorts.raft(each.port()))));
    return peers;
  }

  private void askIfKnown() {
    if (asking) {
      return;
    }
    asking = true;
    for (String other : log.others()) {
      calls
          .ask(other, "known", new OfNode(log.nodeId()), Known.class, ANSWER_MILLIS_MAX)
          .onSuccess(
              answer -> {
                if (!answer.known()) {
                  removed();
                }
              })
          .onFailure(silent -> LOG.debug("node {} cannot tell: {}", other, silent.toString()));
    }
    calls.vertx().setTimer(ANSWER_MILLIS_MAX, id -> asking = false);
  }

  /** This node is in the cluster no more. */
  void removed() {
    calls
        .vertx()
        .executeBlocking(
            () -> {
              try {
                log.removed();
              } catch (IOException e) {
                LOG.error("that this node was removed cannot be noted", e);
              }
              return null;
            });
  }
}
