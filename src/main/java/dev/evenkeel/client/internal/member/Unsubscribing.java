package dev.evenkeel.client.internal.member;

import dev.evenkeel.bus.Addresses;
import dev.evenkeel.bus.ClusterDirectory;
import dev.evenkeel.bus.ClusterView;
import dev.evenkeel.bus.LeaderClient;
import dev.evenkeel.bus.LeaderClient.Retry;
import dev.evenkeel.bus.Link;
import dev.evenkeel.protocol.RefusedException;
import io.vertx.core.Future;
import io.vertx.core.json.JsonObject;

/**
 * Has a group forget a topic that a member reads no more, unless others do. The dispatcher waits
 * until the member has let go of its shards; repeating the question is safe.
 */
final class Unsubscribing {
  /** Longer than the dispatcher waits. */
  private static final long TIMEOUT_MILLIS = 25_000;

  private static final long PAUSE_MILLIS = 500;

  private final LeaderClient leaders;
  private final JsonObject question;
  private final String what;

  Unsubscribing(Link link, ClusterDirectory directory, String group, String member, String topic) {
    leaders = new LeaderClient(link, directory);
    what = "group '" + group + "' and topic '" + topic + "'";
    question =
        new JsonObject()
            .put(
                "forget",
                new JsonObject().put("group", group).put("topic", topic).put("leaver", member));
  }

  /**
   * Asks until it is known, or {@code untilMillis}.
   *
   * @return whether the group has forgotten the topic; false if another member reads it
   */
  Future<Boolean> ask(long untilMillis) {
    return leaders
        .request(
            ClusterView.META,
            Addresses::groups,
            question.toBuffer(),
            TIMEOUT_MILLIS,
            Retry.within(untilMillis - Clock.millis(), PAUSE_MILLIS, () -> false))
        .map(true)
        .recover(
            failure -> {
              RefusedException refused = RefusedException.of(failure);
              return switch (refused.refusal()) {
                case GROUP_ACTIVE -> Future.succeededFuture(false);
                case UNKNOWN_GROUP, UNKNOWN_TOPIC -> Future.succeededFuture(true);
                default -> Future.failedFuture(unknown(refused));
              };
            });
  }

  private RefusedException unknown(RefusedException refused) {
    return refused.refusal().retriable()
        ? new RefusedException(
            refused.refusal(),
            "unsubscribed, but it is not known whether "
                + what
                + " are forgotten: "
                + refused.getMessage())
        : refused;
  }
}
