package dev.evenkeel.gateway;

import dev.evenkeel.bus.Addresses;
import dev.evenkeel.bus.ClusterView;
import dev.evenkeel.bus.Frames;
import dev.evenkeel.bus.Link;
import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.RefusedException;
import io.vertx.core.Future;
import io.vertx.core.json.JsonObject;
import java.util.concurrent.TimeUnit;

/**
 * Whether the cluster can serve: every log group has a leader, and the dispatcher answers. A change
 * of leaders does not show: see {@link SteadyReadiness}.
 */
final class ReadyApi {
  private static final long TIMEOUT_MILLIS = 2_000;

  private final Link link;
  private final ClusterCalls calls;
  private final SteadyReadiness readiness = new SteadyReadiness();

  ReadyApi(Link link, ClusterCalls calls) {
    this.link = link;
    this.calls = calls;
  }

  /** Refuses with UNAVAILABLE and the reason; tried once, so that the answer comes soon. */
  Future<Object> answer() {
    return calls
        .view()
        .compose(this::ask)
        .transform(
            asked -> {
              long now = TimeUnit.NANOSECONDS.toMillis(System.nanoTime());
              return readiness.seen(asked.succeeded(), now)
                  ? Future.succeededFuture(new JsonObject().put("ready", true))
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
    JsonObject question = new JsonObject().putNull("rebalances").put("limit", 0);
    return link.request(Addresses.groups(view.metaLeader()), question.toBuffer(), TIMEOUT_MILLIS)
        .map(Frames::answerBody)
        .<Void>mapEmpty()
        .recover(
            failure ->
                Future.failedFuture(
                    unavailable("the dispatcher does not answer: " + ApiErrors.words(failure))));
  }

  private static RefusedException unavailable(String reason) {
    return new RefusedException(Refusal.UNAVAILABLE, reason);
  }
}
