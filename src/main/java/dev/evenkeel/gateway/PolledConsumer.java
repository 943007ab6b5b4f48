package dev.evenkeel.gateway;

import dev.evenkeel.client.ConsumerOptions;
import dev.evenkeel.client.ConsumerStream;
import dev.evenkeel.client.Delivery;
import dev.evenkeel.client.internal.member.HandlerStream;
import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.RefusedException;
import io.vertx.core.Context;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * A member of a group that is asked for messages and told how they ended, request by request. It
 * leaves the group when it has not been asked for some time. Runs on one context.
 */
final class PolledConsumer {
  /** Most bytes of payloads in an answer, unless its first message alone is larger. */
  private static final long BYTES_MAX = 1L << 20;

  private final Vertx vertx;
  private final Context context;
  private final HandlerStream stream;
  private final ConsumerOptions options;
  private final String user;
  private final long expiresMillis;
  private final Runnable onEnd;

  /** What has come and was not given to a caller yet. */
  private final ArrayDeque<Delivery> come = new ArrayDeque<>();

  private long timer = -1;
  private RefusedException ended;

  /** The request that waits, or null. */
  private Waiting waiting;

  private record Waiting(int max, Promise<List<Delivery>> promise, long timer) {}

  /**
   * @param user who opened it; null: nobody is asked for
   * @param expiresMillis how long it stays without a request
   * @param onEnd runs once, when it has ended
   */
  PolledConsumer(
      Vertx vertx,
      ConsumerStream stream,
      ConsumerOptions options,
      String user,
      long expiresMillis,
      Runnable onEnd) {
    this.vertx = vertx;
    this.context = vertx.getOrCreateContext();
    this.stream = (HandlerStream) stream;
    this.options = options;
    this.user = user;
    this.expiresMillis = expiresMillis;
    this.onEnd = onEnd;
    stream.pause();
    stream.exceptionHandler(why -> context.runOnContext(none -> end(RefusedException.of(why))));
    stream.handler(
        delivery -> {
          delivery.message().detach();
          context.runOnContext(none -> came(delivery));
        });
    keep();
  }

  String member() {
    return stream.consumer().member();
  }

  ConsumerOptions options() {
    return options;
  }

  long expiresMillis() {
    return expiresMillis;
  }

  /** Refuses a caller who is not the one who opened it, and counts as a sign of life. */
  void use(String caller) {
    if (user != null && !user.equals(caller)) {
      throw new RefusedException(Refusal.FORBIDDEN, "the session belongs to another user");
    }
    if (ended != null) {
      throw ended;
    }
    keep();
  }

  private void keep() {
    vertx.cancelTimer(timer);
    timer =
        vertx.setTimer(
            expiresMillis,
            fired ->
                close(
                    Refusal.UNKNOWN_SESSION.error(
                        "the session has ended after %d ms without a request", expiresMillis)));
  }

  /** Waits for messages: completes with some, or with none when the time is over. */
  Future<List<Delivery>> poll(int max, long waitMillis) {
    if (waiting != null) {
      throw Refusal.OVERLOADED.error(
          "another request waits for messages of this session: one at a time is possible");
    }
    Promise<List<Delivery>> promise = Promise.promise();
    if (!come.isEmpty() || waitMillis == 0) {
      stream.fetch(max);
      // What is there already comes within this turn of the event loop or the next.
      waiting = new Waiting(max, promise, vertx.setTimer(1, fired -> answer()));
    } else {
      waiting = new Waiting(max, promise, vertx.setTimer(waitMillis, fired -> answer()));
      stream.fetch(max);
    }
    return promise.future();
  }

  /** Whether messages were given out that have not ended. */
  boolean hasGiven() {
    Set<Delivery> given = new HashSet<>(stream.unfinished());
    come.forEach(given::remove);
    return !given.isEmpty();
  }

  /**
   * Gives out again what was given out and has not ended, for a caller who did not get the answer.
   */
  List<Delivery> again(int max) {
    List<Delivery> all = new ArrayList<>(stream.unfinished());
    all.sort(
        Comparator.comparing(Delivery::topic)
            .thenComparing(Delivery::shard)
            .thenComparing(Delivery::offset));
    come.clear();
    come.addAll(all);
    return taken(max);
  }

  private void came(Delivery delivery) {
    come.add(delivery);
    if (waiting != null && come.size() == 1) {
      // More of them may be on their way.
      context.runOnContext(none -> answer());
    }
  }

  private void answer() {
    Waiting answered = waiting;
    if (answered == null) {
      return;
    }
    waiting = null;
    vertx.cancelTimer(answered.timer());
    stream.pause();
    keep();
    answered.promise().complete(taken(answered.max()));
  }

  private List<Delivery> taken(int max) {
    // A shard may have been lost since its messages came.
    come.retainAll(Set.copyOf(stream.unfinished()));
    List<Delivery> given = new ArrayList<>();
    long bytes = 0;
    while (!come.isEmpty() && given.size() < max) {
      bytes += come.peek().message().payloadLength();
      if (!given.isEmpty() && bytes > BYTES_MAX) {
        break;
      }
      given.add(come.poll());
    }
    return given;
  }

  /**
   * The message that a caller means, if it was given out and has not ended.
   *
   * @param epoch under which it was given out
   * @throws RefusedException FENCED if the shard was lost since then, or the message was not given
   *     out or has ended
   */
  Delivery given(String topic, int shard, long offset, long epoch) {
    Delivery given = stream.unfinished(topic, shard, epoch, offset);
    if (given != null) {
      return given;
    }
    throw Refusal.FENCED.error(
        "the message %s/%d/%d is not in the hands of this session under epoch %d: it has ended, or"
            + " its shard went to another owner",
        topic, shard, offset, epoch);
  }

  void done(Delivery delivery) {
    stream.finish(delivery);
  }

  void failed(Delivery delivery, String error) {
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
  Future<Void> close() {
    return close(Refusal.UNKNOWN_SESSION.error("the session was closed"));
  }

  private Future<Void> close(RefusedException why) {
    end(why);
    return stream.giveBackAndClose();
  }

  private void end(RefusedException why) {
    if (ended == null) {
      ended = why;
      vertx.cancelTimer(timer);
      come.clear();
      if (waiting != null) {
        Waiting last = waiting;
        waiting = null;
        vertx.cancelTimer(last.timer());
        last.promise().fail(why);
      }
      onEnd.run();
    }
  }
}
