package dev.evenkeel.client.gateway;

import dev.evenkeel.bus.Addresses;
import dev.evenkeel.bus.ClusterView;
import dev.evenkeel.bus.Frames;
import dev.evenkeel.bus.Link;
import dev.evenkeel.bus.Op;
import dev.evenkeel.model.Refusal;
import dev.evenkeel.model.RefusedException;
import dev.evenkeel.model.Shard;
import dev.evenkeel.wire.Bytes;
import io.vertx.core.Future;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.json.JsonObject;
import java.nio.ByteBuffer;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.function.UnaryOperator;

/**
 * Requests to whoever leads now. A request that surely had no effect (NOT_LEADER, UNAVAILABLE) is
 * tried again with a fresh view, at most {@link #ATTEMPTS_MAX} times; every other refusal,
 * INDETERMINATE among them, goes to the caller.
 */
final class ClusterCalls {
  static final int ATTEMPTS_MAX = 8;
  private static final long PAUSE_MILLIS = 250;
  private static final long REQUEST_TIMEOUT_MILLIS = 10_000;
  private static final long VIEW_TIMEOUT_MILLIS = 2_000;

  private final Link link;
  private ClusterView lastView;

  ClusterCalls(Link link) {
    this.link = link;
  }

  /** The cluster as some broker sees it now. */
  Future<ClusterView> view() {
    return link.request(Addresses.VIEW, Buffer.buffer(), VIEW_TIMEOUT_MILLIS)
        .map(answer -> lastView = ClusterView.fromJson(new JsonObject(answer)))
        // Asking changes nothing, so no answer is as good as not having asked.
        .recover(
            failure ->
                Future.failedFuture(
                    new RefusedException(Refusal.UNAVAILABLE, "no broker answers: " + failure)));
  }

  Future<ByteBuffer> toMetaLeader(Op op, Bytes body) {
    Buffer request = Frames.request(op, body);
    return attempt(1, "meta", ClusterView::metaLeader, node -> control(node, request));
  }

  Future<ByteBuffer> toDataLeader(int dataGroup, Op op, Bytes body) {
    Buffer request = Frames.request(op, body);
    return attempt(
        1,
        "d" + dataGroup,
        view -> dataGroup < view.dataLeaders().size() ? view.dataLeaders().get(dataGroup) : null,
        node -> control(node, request));
  }

  Future<ByteBuffer> toLeaderOf(Shard shard, Op op, Bytes body) {
    Buffer request = Frames.request(op, body);
    return attempt(
        1, "shard " + shard, view -> view.leaderOf(shard), node -> control(node, request));
  }

  /** Asks the active dispatcher; the answer is JSON text. */
  Future<Buffer> askDispatcher(JsonObject question) {
    return askMetaLeader(Addresses::groups, question, REQUEST_TIMEOUT_MILLIS);
  }

  /**
   * Asks the node that leads meta; the answer is JSON text.
   *
   * @param address of a node, by its id
   */
  Future<Buffer> askMetaLeader(
      UnaryOperator<String> address, JsonObject question, long timeoutMillis) {
    return attempt(
        1,
        "meta",
        ClusterView::metaLeader,
        node ->
            link.request(address.apply(node), question.toBuffer(), timeoutMillis)
                .map(Frames::answerBody)
                .map(
                    body -> {
                      byte[] bytes = new byte[body.remaining()];
                      body.get(bytes);
                      return Buffer.buffer(bytes);
                    }));
  }

  private Future<ByteBuffer> control(String node, Buffer request) {
    return link.request(Addresses.control(node), request, REQUEST_TIMEOUT_MILLIS)
        .map(Frames::answerBody);
  }

  private <T> Future<T> attempt(
      int number,
      String what,
      Function<ClusterView, String> leader,
      Function<String, Future<T>> call) {
    Future<ClusterView> view =
        number == 1 && lastView != null ? Future.succeededFuture(lastView) : view();
    return view.compose(
            seen -> {
              String node = leader.apply(seen);
              return node == null
                  ? Future.failedFuture(
                      new RefusedException(
                          Refusal.UNAVAILABLE, "nobody leads " + what + " at the moment"))
                  : call.apply(node);
            })
        .recover(
            failure -> {
              boolean again =
                  failure instanceof RefusedException refused
                      && (refused.refusal() == Refusal.NOT_LEADER
                          || refused.refusal() == Refusal.UNAVAILABLE);
              if (!again || number >= ATTEMPTS_MAX) {
                return Future.failedFuture(failure);
              }
              // A stale view is corrected by the next attempt at once; a missing leader takes time.
              return link.vertx()
                  .timer(number == 1 ? 1 : PAUSE_MILLIS, TimeUnit.MILLISECONDS)
                  .compose(fired -> attempt(number + 1, what, leader, call));
            });
  }
}
