package dev.evenkeel.gateway;

import dev.evenkeel.api.AskReady;
import dev.evenkeel.api.AskReady.IsReady;
import dev.evenkeel.bus.ClusterView;
import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.RefusedException;
import dev.evenkeel.util.MonotonicClock;
import io.vertx.core.Future;

/**
 * Says whether the cluster can serve: every log group has a leader, and the dispatcher answers.
 *
 * <p>A change of leaders does not show. Elections and the start of a dispatcher end by themselves
 * within seconds, and all nodes see them at the same time: if each said that it is not ready,
 * nobody would be.
 */
final class ReadyApi {
  private static final long TIMEOUT_MILLIS = 2_000;

  /** A node that was ready says so for this time after the cluster has stopped serving. */
  static final long GRACE_MILLIS = 10_000;

  private final ClusterCalls calls;
  private boolean ready;
  private boolean failing;
  private long failingSinceMillis;

  ReadyApi(ClusterCalls calls) {
    this.calls = calls;
  }

  /** Refuses with UNAVAILABLE and the reason. It makes one attempt only, to answer soon. */
  Future<IsReady> answer(AskReady question) {
    return calls
        .view()
        .compose(this::ask)
        .transform(
            asked -> {
              long now = MonotonicClock.millis();
              return seen(asked.succeeded(), now)
                  ? Future.succeededFuture(new IsReady(true))
                  : Future.failedFuture(asked.cause());
            });
  }

  private Future<Void> ask(ClusterView view) {
    if (view.metaLeader() == null) {
      throw unavailable("the meta log has no leader");
    }
    if (!view.caughtUp()) {
      throw view.unknownTopics();
    }
    for (int i = 0; i < view.dataLeaders().size(); i++) {
      if (view.dataLeaders().get(i) == null) {
        throw unavailable("the log group d" + i + " has no leader");
      }
    }
    return calls
        .dispatcherAnswers(view.metaLeader(), TIMEOUT_MILLIS)
        .<Void>mapEmpty()
        .recover(
            failure ->
                Future.failedFuture(
                    unavailable("the dispatcher does not answer: " + ApiErrors.words(failure))));
  }

  /**
   * Notes whether the cluster can serve now.
   *
   * @param nowMillis of a monotonic clock
   * @return whether the node is to count as ready
   */
  synchronized boolean seen(boolean canServe, long nowMillis) {
    if (canServe) {
      ready = true;
    } else if (!failing) {
      // The grace begins now, however long ago the last request was: the change may just have
      // begun.
      failingSinceMillis = nowMillis;
    } else if (nowMillis - failingSinceMillis >= GRACE_MILLIS) {
      ready = false;
    }
    failing = !canServe;
    return ready;
  }

  private static RefusedException unavailable(String reason) {
    return Refusal.UNAVAILABLE.error(reason);
  }
}
