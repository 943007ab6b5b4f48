package dev.evenkeel.client.gateway;

import dev.evenkeel.bus.Addresses;
import dev.evenkeel.bus.ClusterView;
import dev.evenkeel.bus.Frames;
import dev.evenkeel.bus.Link;
import dev.evenkeel.model.Refusal;
import dev.evenkeel.model.RefusedException;
import io.vertx.core.Future;
import io.vertx.core.json.JsonObject;

/** Whether the cluster can serve: every log group has a leader, and the dispatcher answers. */
final class ReadyApi {
  private static final long TIMEOUT_MILLIS = 2_000;

  private final Link link;
  private final ClusterCalls calls;

  ReadyApi(Link link, ClusterCalls calls) {
    this.link = link;
    this.calls = calls;
  }

  /** Refuses with UNAVAILABLE and the reason; tried once, so that the answer comes soon. */
  Future<Object> answer() {
    return calls.view().compose(this::ask);
  }

  private Future<Object> ask(ClusterView view) {
    if (view.metaLeader() == null) {
      throw unavailable("the meta log has no leader");
    }
    for (int i = 0; i < view.dataLeaders().size(); i++) {
      if (view.dataLeaders().get(i) == null) {
        throw unavailable("the log group d" + i + " has no leader");
      }
    }
    JsonObject question = new JsonObject().putNull("rebalances").put("limit", 0);
    return link.request(Addresses.groups(view.metaLeader()), question.toBuffer(), TIMEOUT_MILLIS)
        .map(Frames::answerBody)
        .<Object>map(answer -> new JsonObject().put("ready", true))
        .recover(
            failure ->
                Future.failedFuture(
                    unavailable("the dispatcher does not answer: " + failure.getMessage())));
  }

  private static RefusedException unavailable(String reason) {
    return new RefusedException(Refusal.UNAVAILABLE, reason);
  }
}
