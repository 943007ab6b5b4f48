package dev.evenkeel.client.internal.member;

import dev.evenkeel.api.TextOrBytes;
import dev.evenkeel.client.Consumer;
import dev.evenkeel.client.ConsumerHandler;
import dev.evenkeel.client.Delivery;
import dev.evenkeel.client.GivenBackException;
import dev.evenkeel.client.LeaderContext;
import dev.evenkeel.client.internal.consume.AwayException;
import dev.evenkeel.client.internal.consume.MayBeAway;
import dev.evenkeel.protocol.Durations;
import dev.evenkeel.protocol.Message;
import dev.evenkeel.util.LogLimiter;
import io.vertx.core.AsyncResult;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.eventbus.DeliveryOptions;
import io.vertx.core.eventbus.ReplyException;
import io.vertx.core.eventbus.ReplyFailure;
import java.util.Base64;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Sends each message as a request to an address of the event bus. A reply finishes the message; a
 * failure, and no reply in time, are failed attempts.
 *
 * <p>While nobody listens at the address, no attempt counts, nor does that of a message that waited
 * for a handler when it was unregistered. From the first message that finds nobody on, messages are
 * given back without being sent, until the cluster knows of a listener.
 *
 * <p>The body is the payload. The headers are those of the message and, with the {@link #PREFIX},
 * what else is known of it: see {@link #headers}.
 */
public final class AddressHandler implements ConsumerHandler, MayBeAway {
  /** What the names of headers begin with that are not the message's own. */
  public static final String PREFIX = "evenkeel-";

  /** What they begin with if they are the message's own, and their values are no text. */
  private static final String CODED = PREFIX + "base64-";

  private static final Logger LOG = LoggerFactory.getLogger(Consumer.class);

  /** How Vert.x begins its answer for a handler that has not seen the message and never will. */
  private static final String DISCARDED = "Discarded the request.";

  private static final LogLimiter WARNINGS = new LogLimiter();

  /** How long a close waits for what it has asked the cluster for. */
  private static final long RELEASE_MILLIS_MAX = 2_000;

  private static final long LOOK_MILLIS_MIN = 500;
  private static final long LOOK_MILLIS_MAX = 5_000;

  private final Vertx vertx;
  private final String address;
  private final long timeoutMillis;
  private final String group;
  private final AwayException nobody;

  /** Mode singleton: the last leadership of this member; null: it has not led. */
  private LeaderContext leadership;

  /** The ends of messages that were sent and have no reply yet. At most {@code parallel}. */
  private final Set<Promise<Void>> sent = ConcurrentHashMap.newKeySet();

  private boolean away;
  private boolean warned;
  private boolean looking;
  private long lookMillis = LOOK_MILLIS_MIN;
  private long nextLookMillis;

  AddressHandler(Vertx vertx, String address, long timeoutMillis, String group) {
    this.vertx = vertx;
    this.address = address;
    this.timeoutMillis = timeoutMillis;
    this.group = group;
    nobody = new AwayException("nobody listens at '" + address + "'");
  }

  /** Where the messages go. */
  public String address() {
    return address;
  }

  @Override
  public Future<Void> handle(Delivery delivery) {
    if (isAway()) {
      return Future.failedFuture(nobody);
    }
    DeliveryOptions options = new DeliveryOptions().setSendTimeout(timeoutMillis);
    headers(options, delivery, group);
    if (leadership != null) {
      options.addHeader(PREFIX + "term", String.valueOf(leadership.term()));
    }
    Promise<Void> end = Promise.promise();
    sent.add(end);
    vertx
        .eventBus()
        .request(address, Buffer.buffer(delivery.message().payload()), options)
        .transform(this::ended)
        .onComplete(
            ended -> {
              sent.remove(end);
              if (ended.succeeded()) {
                end.tryComplete();
              } else {
                end.tryFail(ended.cause());
              }
            });
    return end.future();
  }

  /** A message that comes after the end of a leadership has come under its term. */
  @Override
  public void onLeadership(LeaderContext leader) {
    if (leader != null) {
      leadership = leader;
    }
  }

  /**
   * Closes a consumer that has this handler. Messages that have been sent may still be answered.
   * After {@code waitMillis} those without a reply are given back, so that others get them. Soon
   * after it ends, even if it cannot release its shards: a node that stops has more to do.
   */
  public Future<Void> close(Consumer consumer, long waitMillis) {
    Future<Void> closed = consumer.close(waitMillis + RELEASE_MILLIS_MAX);
    if (!closed.isComplete()) {
      long timer = vertx.setTimer(waitMillis, over -> giveUp());
      closed.onComplete(done -> vertx.cancelTimer(timer));
    }
    return closed;
  }

  private void giveUp() {
    GivenBackException cause = new GivenBackException("its consumer leaves the group");
    List.copyOf(sent).forEach(end -> end.tryFail(cause));
  }

  /** Adds what a receiver learns of a message besides its payload. */
  static void headers(DeliveryOptions options, Delivery delivery, String group) {
    Message message = delivery.message();
    for (Map.Entry<String, byte[]> each : message.headers().entrySet()) {
      String name = each.getKey();
      boolean own = name.toLowerCase(Locale.ROOT).startsWith(PREFIX);
      add(options, own ? PREFIX + name : name, CODED + name, each.getValue());
    }
    if (message.hasKey()) {
      add(options, PREFIX + "key", PREFIX + "key-base64", message.key());
    }
    options
        .addHeader(PREFIX + "topic", delivery.topic())
        .addHeader(PREFIX + "shard", String.valueOf(delivery.shard()))
        .addHeader(PREFIX + "offset", String.valueOf(delivery.offset()))
        .addHeader(PREFIX + "attempt", String.valueOf(delivery.attempt()))
        .addHeader(PREFIX + "epoch", String.valueOf(delivery.epoch()))
        .addHeader(PREFIX + "group", group)
        .addHeader(PREFIX + "member", delivery.member())
        .addHeader(PREFIX + "timestamp", String.valueOf(message.timestampMillis()));
  }

  private static void add(DeliveryOptions options, String name, String coded, byte[] value) {
    String text = TextOrBytes.textOrNull(value);
    if (text != null) {
      options.addHeader(name, text);
    } else {
      options.addHeader(coded, Base64.getEncoder().encodeToString(value));
    }
  }

  private Future<Void> ended(AsyncResult<?> reply) {
    if (reply.succeeded()) {
      here();
      return Future.succeededFuture();
    }
    ReplyFailure kind =
        reply.cause() instanceof ReplyException failure ? failure.failureType() : null;
    if (kind == ReplyFailure.NO_HANDLERS) {
      nobodyListens();
      return Future.failedFuture(nobody);
    }
    if (kind == ReplyFailure.TIMEOUT && isDiscarded(reply.cause())) {
      nobodyTakes();
      return Future.failedFuture(nobody);
    }
    if (kind == ReplyFailure.TIMEOUT) {
      return failed("no reply from '%s' within %s", Durations.format(timeoutMillis));
    }
    here();
    String why = reply.cause().getMessage();
    return failed("'%s' failed: %s", why == null ? "it gave no reason" : why);
  }

  /** No handler has seen the message: it was unregistered, or paused for too long, before that. */
  private static boolean isDiscarded(Throwable cause) {
    return cause.getMessage() != null && cause.getMessage().startsWith(DISCARDED);
  }

  private Future<Void> failed(String format, String what) {
    return Future.failedFuture(new FailedAtAddress(format.formatted(address, what)));
  }

  @Override
  public synchronized boolean isAway() {
    if (away && !looking && Clock.millis() >= nextLookMillis) {
      looking = true;
      // If the cluster does not say, a message finds out.
      Listeners.at(vertx, address).otherwise(true).onSuccess(this::looked);
    }
    return away;
  }

  private synchronized void looked(boolean listens) {
    looking = false;
    away = !listens;
    nextLookMillis = Clock.millis() + LOOK_MILLIS_MIN;
  }

  private synchronized void nobodyTakes() {
    if (!away) {
      away = true;
      nextLookMillis = Clock.millis() + lookMillis;
      // The cluster may know somebody who is gone, until it has noticed that.
      lookMillis = Math.min(2 * lookMillis, LOOK_MILLIS_MAX);
    }
  }

  private synchronized void nobodyListens() {
    nobodyTakes();
    if (WARNINGS.mayLog(address, Clock.millis())) {
      warned = true;
      LOG.warn(
          "nobody listens at the address '{}': the messages of group {} wait, and no attempt"
              + " counts",
          address,
          group);
    }
  }

  private synchronized void here() {
    away = false;
    lookMillis = LOOK_MILLIS_MIN;
    if (warned) {
      warned = false;
      LOG.warn("the address '{}' answers again: the messages of group {} go on", address, group);
    }
  }

  @Override
  public String toString() {
    return "address '" + address + "'";
  }

  /** What a receiver said; without a stack trace. */
  private static final class FailedAtAddress extends Exception {
    private static final long serialVersionUID = 1L;

    FailedAtAddress(String message) {
      super(message, null, false, false);
    }

    @Override
    public String toString() {
      return getMessage();
    }
  }
}
