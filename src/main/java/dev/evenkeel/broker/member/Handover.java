package dev.evenkeel.broker.member;

import dev.evenkeel.log.LogGroup;
import dev.evenkeel.log.LogNode;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Gives every group that a node leads to another, before it stops. */
record Handover(Vertx vertx, PeerCalls calls, LogNode log) {
  static final long MILLIS_MAX = 4_000;
  private static final Logger LOG = LoggerFactory.getLogger(Handover.class);

  /** Completes when the groups are led by others, or could not be given away in time. */
  Future<Void> run() {
    List<LogGroup> led = led();
    if (led.isEmpty() || log.nodes().size() == 1) {
      return Future.succeededFuture();
    }
    List<String> others = log.nodes().stream().filter(node -> !node.equals(log.nodeId())).toList();
    Future<Void> given =
        calls
            .cards(others)
            .compose(
                answers -> {
                  List<Future<Void>> each = new ArrayList<>();
                  led.forEach(group -> each.add(give(group, answers)));
                  return Future.join(each).otherwiseEmpty().mapEmpty();
                });
    return Future.any(given, vertx.timer(MILLIS_MAX, TimeUnit.MILLISECONDS)).mapEmpty();
  }

  private List<LogGroup> led() {
    List<LogGroup> led = new ArrayList<>();
    for (LogGroup group : log.all()) {
      if (log.nodeId().equals(group.leadership().leader())) {
        led.add(group);
      }
    }
    return led;
  }

  private Future<Void> give(LogGroup group, Map<String, Peer> answers) {
    return tryNext(group, Successors.of(group.name(), group.followers(), answers), 0);
  }

  private Future<Void> tryNext(LogGroup group, List<String> successors, int index) {
    if (index >= successors.size()) {
      LOG.warn("group {}: nobody could take the leadership over", group.name());
      return Future.succeededFuture();
    }
    String next = successors.get(index);
    LOG.info("group {}: handing the leadership to {} before stopping", group.name(), next);
    return Future.fromCompletionStage(group.handLeadershipTo(next), vertx.getOrCreateContext())
        .recover(
            failure -> {
              LOG.warn(
                  "group {}: {} did not take over: {}", group.name(), next, failure.toString());
              return tryNext(group, successors, index + 1);
            });
  }
}
