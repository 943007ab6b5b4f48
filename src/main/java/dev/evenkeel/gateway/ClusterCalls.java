package dev.evenkeel.gateway;

import dev.evenkeel.bus.Addresses;
import dev.evenkeel.bus.ClusterDirectory;
import dev.evenkeel.bus.ClusterView;
import dev.evenkeel.bus.Frames;
import dev.evenkeel.bus.Link;
import dev.evenkeel.bus.Op;
import dev.evenkeel.bus.ViewQuestion;
import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.RefusedException;
import dev.evenkeel.protocol.Shard;
import dev.evenkeel.protocol.wire.Bytes;
import io.vertx.core.Future;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.json.JsonObject;
import java.nio.ByteBuffer;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.function.ToIntFunction;
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

  /** After it no other attempt begins: whoever asked waits for 30 s. */
  private static final long ATTEMPTS_NANOS_MAX = 15_000_000_000L;

  private final Link link;

  /** Who leads; it hears of it sooner than asking again and again would tell. */
  private final ClusterDirectory directory;

  private final Majority majority;

  ClusterCalls(Link link) {
    this.link = link;
    directory = new ClusterDirectory(link);
    majority = new Majority(link, this::view);
  }

  /** Why nobody could serve a request. */
  Majority majority() {
    return majority;
  }

  void close() {
    directory.close();
  }

  /** As {@link #view}, of a broker that knows all topics. Fails with UNAVAILABLE. */
  Future<ClusterView> topics() {
    return view()
        .compose(
            view ->
                view.caughtUp()
                    ? Future.succeededFuture(view)
                    : Future.failedFuture(view.unknownTopics()));
  }

  /** The cluster as some broker sees it now, if possible one that has caught up. */
  Future<ClusterView> view() {
    return ViewQuestion.ask(link)
        // Asking changes nothing, so no answer is as good as not having asked.
        .recover(
            failure ->
                Future.failedFuture(
                    new RefusedException(Refusal.UNAVAILABLE, "no broker answers: " + failure)));
  }

  Future<ByteBuffer> toMetaLeader(Op op, Bytes body) {
    Buffer request = Frames.request(op, body);
    return attempt("meta", view -> ClusterView.META, node -> control(node, op, request));
  }

  Future<ByteBuffer> toDataLeader(int dataGroup, Op op, Bytes body) {
    Buffer request = Frames.request(op, body);
    return attempt("d" + dataGroup, view -> dataGroup, node -> control(node, op, request));
  }

  Future<ByteBuffer> toLeaderOf(Shard shard, Op op, Bytes body) {
    Buffer request = Frames.request(op, body);
    return attempt(
        null,
        view -> shard.dataGroup(Math.max(1, view.dataLeaders().size())),
        node -> control(node, op, request));
  }

  /** Asks the active dispatcher; the answer is JSON text. */
  Future<Buffer> askDispatcher(JsonObject question) {
    return askMetaLeader(Addresses::groups, question, REQUEST_TIMEOUT_MILLIS, true);
  }

  /**
   * Asks the node that leads meta; the answer is JSON text.
   *
   * @param address of a node, by its id
   * @param onlyAsking the question changes nothing, so it is repeated when no answer came
   */
  Future<Buffer> askMetaLeader(
      UnaryOperator<String> address, JsonObject question, long timeoutMillis, boolean onlyAsking) {
    return attempt(
        "meta",
        view -> ClusterView.META,
        node ->
            answerOf(
                    link.request(address.apply(node), question.toBuffer(), timeoutMillis),
                    onlyAsking)
                .map(Frames::answerBody)
                .map(
                    body -> {
                      byte[] bytes = new byte[body.remaining()];
                      body.get(bytes);
                      return Buffer.buffer(bytes);
                    }));
  }

  private Future<ByteBuffer> control(String node, Op op, Buffer request) {
    Future<Buffer> answer = link.request(Addresses.control(node), request, REQUEST_TIMEOUT_MILLIS);
    return answerOf(answer, onlyAsks(op)).map(Frames::answerBody);
  }

  private static Future<Buffer> answerOf(Future<Buffer> request, boolean onlyAsking) {
    return onlyAsking ? asking(request) : request;
  }

  private static boolean onlyAsks(Op op) {
    return switch (op) {
      case READ_LEASE,
          READ_SHARDS,
          READ_GROUPS,
          READ_GROUP_LEASES,
          READ_MOVES,
          READ_DEAD_LETTERS,
          READ_FAILURES,
          BROWSE,
          FIND_OFFSET,
          READ_BYTES ->
          true;
      default -> false;
    };
  }

  /** Asking changes nothing, so no answer is as good as not having asked. */
  private static Future<Buffer> asking(Future<Buffer> answer) {
    return answer.recover(
        failure ->
            Future.failedFuture(
                new RefusedException(Refusal.UNAVAILABLE, String.valueOf(failure.getMessage()))));
  }

  /**
   * @param log whose leader is asked; null: that of a shard
   */
  private <T> Future<T> attempt(
      String log, ToIntFunction<ClusterView> group, Function<String, Future<T>> call) {
    return attempt(1, System.nanoTime() + ATTEMPTS_NANOS_MAX, group, call)
        .recover(
            failure ->
                failure instanceof RefusedException refused
                    ? majority.explain(refused, log).compose(Future::failedFuture)
                    : Future.failedFuture(failure));
  }

  private <T> Future<T> attempt(
      int number,
      long untilNanos,
      ToIntFunction<ClusterView> group,
      Function<String, Future<T>> call) {
    Future<ClusterView> view = number == 1 ? directory.view() : directory.refresh();
    return view.compose(
            seen -> {
              int asked = group.applyAsInt(seen);
              String node = seen.leader(asked);
              return node == null
                  ? Future.failedFuture(new RefusedException(Refusal.NOT_LEADER, ""))
                  : directory.whileLeads(asked, node, call.apply(node));
            })
        .recover(
            failure -> {
              boolean again =
                  failure instanceof RefusedException refused
                      && (refused.refusal() == Refusal.NOT_LEADER
                          || refused.refusal() == Refusal.UNAVAILABLE);
              if (!again || number >= ATTEMPTS_MAX || System.nanoTime() - untilNanos > 0) {
                return Future.failedFuture(failure);
              }
              // A stale view is corrected by the next attempt at once; a missing leader takes time.
              return link.vertx()
                  .timer(number == 1 ? 1 : PAUSE_MILLIS, TimeUnit.MILLISECONDS)
                  .compose(fired -> attempt(number + 1, untilNanos, group, call));
            });
  }
}
