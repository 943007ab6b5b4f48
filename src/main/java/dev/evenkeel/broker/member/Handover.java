package dev.evenkeel.broker.member;

import dev.evenkeel.log.Follower;
import dev.evenkeel.log.LogGroup;
import dev.evenkeel.log.LogNode;
import io.vertx.core.Future;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Gives the leadership of every log group to another node before this node stops. */
record Handover(PeerCalls calls, LogNode log) {
  static final long MILLIS_MAX = 4_000;

  /** A follower that has not answered for this long is not asked. */
  static final long SILENT_MILLIS_MAX = 2_500;

  private static final Logger LOG = LoggerFactory.getLogger(Handover.class);

  /** Completes when other nodes lead the log groups, or when the time is over. */
  Future<Void> run() {
    List<LogGroup> led = led();
    if (led.isEmpty() || log.nodes().size() == 1) {
      return Future.succeededFuture();
    }
    Future<Void> given =
        calls
            .peers(log.others())
            .compose(
                answers -> {
                  List<Future<Void>> each = new ArrayList<>();
                  led.forEach(group -> each.add(give(group, answers)));
                  return Future.join(each).otherwiseEmpty().mapEmpty();
                });
    return Future.any(given, calls.vertx().timer(MILLIS_MAX, TimeUnit.MILLISECONDS)).mapEmpty();
  }

  private List<LogGroup> led() {
    return log.all().stream()
        .filter(group -> log.nodeId().equals(group.leadership().leader()))
        .toList();
  }

  private Future<Void> give(LogGroup group, Map<String, Peer> answers) {
    return tryNext(group, successors(group.name(), group.voters().followers(), answers), 0);
  }

  private Future<Void> tryNext(LogGroup group, List<String> successors, int index) {
    if (index >= successors.size()) {
      LOG.warn("log group {}: no other node could take over the leadership", group.name());
      return Future.succeededFuture();
    }
    String next = successors.get(index);
    LOG.info("log group {}: handing the leadership to {} before stopping", group.name(), next);
    return Future.fromCompletionStage(
            group.elections().handLeadershipTo(next), calls.vertx().getOrCreateContext())
        .recover(
            failure -> {
              LOG.warn(
                  "log group {}: {} did not take over: {}", group.name(), next, failure.toString());
              return tryNext(group, successors, index + 1);
            });
  }

  /**
   * The nodes that may take a log group over, best first.
   *
   * @param answers of the nodes that answered, by id
   */
  static List<String> successors(
      String group, List<Follower> followers, Map<String, Peer> answers) {
    return followers.stream()
        .filter(follower -> follower.silentMillis() <= SILENT_MILLIS_MAX)
        .sorted(
            Comparator.comparing((Follower follower) -> fit(answers.get(follower.node()), group))
                .thenComparing(Follower::matchIndex)
                .reversed()
                .thenComparing(Follower::node))
        .map(Follower::node)
        .toList();
  }

  /**
   * A node that should not lead still keeps everything acknowledged, and passes the leadership on.
   */
  private static boolean fit(Peer peer, String group) {
    return peer != null && peer.serving() && !peer.unfit().contains(group);
  }
}
