package dev.evenkeel.client.internal.member;

import dev.evenkeel.bus.Addresses;
import dev.evenkeel.bus.ClusterDirectory;
import dev.evenkeel.bus.ClusterView;
import dev.evenkeel.bus.Frames;
import dev.evenkeel.bus.Link;
import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.RefusedException;
import io.vertx.core.Future;
import io.vertx.core.json.JsonObject;
import java.nio.ByteBuffer;
import java.util.concurrent.TimeUnit;

/**
 * Has a group forget a topic that a member reads no more, unless others do. The dispatcher waits
 * until the member has let go of its shards; repeating the question is safe.
 */
final class Unsubscribing {
  /** Longer than the dispatcher waits. */
  private static final long TIMEOUT_MILLIS = 25_000;

  private static final long PAUSE_MILLIS = 500;

  private final Link link;
  private final ClusterDirectory directory;
  private final JsonObject question;
  private final String what;

  Unsubscribing(Link link, ClusterDirectory directory, String group, String member, String topic) {
    this.link = link;
    this.directory = directory;
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
    return directory
        .view()
        .compose(this::askLeader)
        .map(true)
        .recover(
            failure -> {
              RefusedException refused = Refusals.of(failure);
              return switch (refused.refusal()) {
                case GROUP_ACTIVE -> Future.succeededFuture(false);
                case UNKNOWN_GROUP, UNKNOWN_TOPIC -> Future.succeededFuture(true);
                default -> again(refused, untilMillis);
              };
            });
  }

  private Future<ByteBuffer> askLeader(ClusterView view) {
    String dispatcher = view.metaLeader();
    if (dispatcher == null) {
      return Future.failedFuture(
          new RefusedException(Refusal.UNAVAILABLE, "no dispatcher is known"));
    }
    return directory
        .whileLeads(
            ClusterView.META,
            dispatcher,
            link.request(Addresses.groups(dispatcher), question.toBuffer(), TIMEOUT_MILLIS))
        .map(Frames::answerBody);
  }

  private Future<Boolean> again(RefusedException refused, long untilMillis) {
    if (!refused.refusal().retriable()) {
      return Future.failedFuture(refused);
    }
    if (Clock.millis() >= untilMillis) {
      return Future.failedFuture(
          new RefusedException(
              refused.refusal(),
              "unsubscribed, but it is not known whether "
                  + what
                  + " are forgotten: "
                  + refused.getMessage()));
    }
    return link.vertx()
        .timer(PAUSE_MILLIS, TimeUnit.MILLISECONDS)
        .compose(fired -> directory.refresh())
        .transform(view -> ask(untilMillis));
  }
}
