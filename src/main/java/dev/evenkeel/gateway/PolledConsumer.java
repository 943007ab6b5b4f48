package dev.evenkeel.gateway;

import dev.evenkeel.client.ConsumerOptions;
import dev.evenkeel.client.ConsumerStream;
import dev.evenkeel.client.Delivery;
import dev.evenkeel.client.internal.member.HandlerStream;
import dev.evenkeel.protocol.NewestMap;
import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.RefusedException;
import io.vertx.core.Context;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * A member of a group that is asked for messages and told how they ended, request by request. It
 * leaves the group when no request has waited or come for some time: then its caller has died,
 * perhaps of a message that it was given. Runs on one context.
 *
 * <p>A request for messages may have a name. If it is {@link #abandon abandoned} because its caller
 * has gone, it waits no longer, and the next request gets what it was given.
 */
final class PolledConsumer extends MemberSession {
  /** Most bytes of payloads in an answer, unless its first message alone is larger. */
  private static final long BYTES_MAX = 1L << 20;

  /** How many requests may be abandoned before they come. */
  private static final int POLLS_MAX = 100;

  private static final Comparator<Delivery> IN_ORDER =
      Comparator.comparing(Delivery::topic)
          .thenComparing(Delivery::shard)
          .thenComparing(Delivery::offset);

  private final Context context;
  private final HandlerStream stream;

  /** What has come and was not given to a caller yet. */
  private final ArrayDeque<Delivery> come = new ArrayDeque<>();

  /**
   * What was given to callers and has not ended, each with the name of the request that got it;
   * null: it had none.
   */
  private final Map<Delivery, String> given = new HashMap<>();

  /** Names of requests that were abandoned before they came. */
  private final Set<String> abandoned = Collections.newSetFromMap(new NewestMap<>(POLLS_MAX));

  /** The request that waits, or null. */
  private WaitingPoll waiting;

  private record WaitingPoll(String poll, int max, Promise<List<Delivery>> promise, long timer) {}

  /** It expires after this time without a request. See {@link MemberSession}. */
  PolledConsumer(
      Vertx vertx,
      ConsumerStream stream,
      ConsumerOptions options,
      String user,
      int expiresMillis,
      Runnable onEnd) {
    super(vertx, options, user, expiresMillis, onEnd);
    this.context = vertx.getOrCreateContext();
    this.stream = (HandlerStream) stream;
    stream.pause();
    stream.exceptionHandler(why -> context.runOnContext(none -> end(RefusedException.of(why))));
    stream.handler(
        delivery -> {
          delivery.message().detach();
          context.runOnContext(none -> came(delivery));
        });
  }

  @Override
  String member() {
    return stream.consumer().member();
  }

  @Override
  void expire() {
    dropEnded();
    List<Delivery> diedOf = List.copyOf(given.keySet());
    end(expiry.timeout());
    stream.giveBackAndClose(diedOf);
  }

  /**
   * Waits for messages: completes with some, or with none when the time is over.
   *
   * @param poll a name for {@link #abandon}; null: it has none
   * @param again whether what was given out and has not ended comes first, for a caller who did not
   *     get the answer
   */
  Future<List<Delivery>> poll(String poll, int max, long waitMillis, boolean again) {
    if (abandoned.remove(poll)) {
      return Future.succeededFuture(List.of());
    }
    dropEnded();
    boolean back = again && !given.isEmpty();
    if (back) {
      comeBack(List.copyOf(given.keySet()));
    }
    if (waiting != null) {
      if (back) {
        return Future.succeededFuture(taken(poll, max));
      }
      throw Refusal.OVERLOADED.error(
          "another request waits for messages of this session: one at a time is possible");
    }
    Promise<List<Delivery>> promise = Promise.promise();
    if (!come.isEmpty() || waitMillis == 0) {
      stream.fetch(max);
      // What is there already comes within this turn of the event loop or the next.
      waiting = new WaitingPoll(poll, max, promise, vertx.setTimer(1, fired -> answer()));
    } else {
      waiting = new WaitingPoll(poll, max, promise, vertx.setTimer(waitMillis, fired -> answer()));
      stream.fetch(max);
    }
    expiry.waits();
    return promise.future();
  }

  /** A shard may have been lost since its messages came. */
  private void dropEnded() {
    Set<Delivery> unfinished = Set.copyOf(stream.unfinished());
    come.retainAll(unfinished);
    given.keySet().retainAll(unfinished);
  }

  /** Puts messages back that were given out, so that they are the next ones. */
  private void comeBack(List<Delivery> back) {
    back.forEach(given::remove);
    List<Delivery> all = new ArrayList<>(back);
    all.addAll(come);
    all.sort(IN_ORDER);
    come.clear();
    come.addAll(all);
  }

  /**
   * The caller of a request has gone: it waits no longer, and what it was given and has not ended
   * is given to the next request.
   */
  void abandon(String poll) {
    if (waiting != null && poll.equals(waiting.poll())) {
      WaitingPoll left = waitsNoLonger();
      left.promise().complete(List.of());
      return;
    }
    List<Delivery> lost =
        given.keySet().stream().filter(each -> poll.equals(given.get(each))).toList();
    if (lost.isEmpty()) {
      abandoned.add(poll);
      return;
    }
    comeBack(lost);
    if (waiting != null) {
      context.runOnContext(none -> answer());
    }
  }

  private WaitingPoll waitsNoLonger() {
    WaitingPoll ended = waiting;
    waiting = null;
    vertx.cancelTimer(ended.timer());
    stream.pause();
    expiry.answered();
    return ended;
  }

  private void came(Delivery delivery) {
    come.add(delivery);
    if (waiting != null && come.size() == 1) {
      // More of them may be on their way.
      context.runOnContext(none -> answer());
    }
  }

  private void answer() {
    if (waiting != null) {
      WaitingPoll answered = waitsNoLonger();
      answered.promise().complete(taken(answered.poll(), answered.max()));
    }
  }

  private List<Delivery> taken(String poll, int max) {
    dropEnded();
    List<Delivery> taken = new ArrayList<>();
    long bytes = 0;
    while (!come.isEmpty() && taken.size() < max) {
      bytes += come.peek().message().payloadLength();
      if (!taken.isEmpty() && bytes > BYTES_MAX) {
        break;
      }
      taken.add(come.poll());
    }
    taken.forEach(each -> given.put(each, poll));
    return taken;
  }

  /**
   * The message that a caller means, if it was given out and has not ended.
   *
   * @param epoch under which it was given out
   * @throws RefusedException FENCED if the shard was lost since then, or the message was not given
   *     out or has ended
   */
  Delivery given(String topic, int shard, long offset, long epoch) {
    Delivery found = stream.unfinished(topic, shard, epoch, offset);
    if (found != null) {
      return found;
    }
    throw Refusal.FENCED.error(
        "the message %s/%d/%d is not in the hands of this session under epoch %d: it has ended, or"
            + " its shard went to another owner",
        topic, shard, offset, epoch);
  }

  void done(Delivery delivery) {
    given.remove(delivery);
    stream.finish(delivery);
  }

  void failed(Delivery delivery, String error) {
    given.remove(delivery);
    stream.fail(delivery, new FailedOverHttp(error));
  }

  /** What a caller said; without a stack trace. */
  private static final class FailedOverHttp extends Exception {
    private static final long serialVersionUID = 1L;

    FailedOverHttp(String message) {
      super(message, null, false, false);
    }

    @Override
    public String toString() {
      return getMessage();
    }
  }

  /** Gives back what has not ended, releases every shard, and leaves the group. */
  @Override
  public Future<Void> close() {
    end(Refusal.UNKNOWN_SESSION.error("the session was closed"));
    return stream.giveBackAndClose();
  }

  @Override
  void afterEnd(RefusedException why) {
    come.clear();
    given.clear();
    if (waiting != null) {
      WaitingPoll last = waiting;
      waiting = null;
      vertx.cancelTimer(last.timer());
      last.promise().fail(why);
    }
  }
}
