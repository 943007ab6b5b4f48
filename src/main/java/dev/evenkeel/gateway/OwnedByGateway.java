package dev.evenkeel.gateway;

import dev.evenkeel.bus.Addresses;
import dev.evenkeel.bus.EventLoops;
import dev.evenkeel.bus.Frames;
import dev.evenkeel.bus.share.FairShare;
import dev.evenkeel.bus.share.Scarce;
import dev.evenkeel.bus.share.Shares;
import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.RefusedException;
import io.vertx.core.Context;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import io.vertx.core.eventbus.DeliveryOptions;
import io.vertx.core.eventbus.MessageConsumer;
import io.vertx.core.eventbus.ReplyException;
import io.vertx.core.eventbus.ReplyFailure;
import io.vertx.core.json.JsonObject;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.function.BiFunction;
import java.util.function.Predicate;
import java.util.function.Supplier;

/**
 * What callers open over the API and then use request by request, such as sessions. It lives in the
 * gateway that opened it, which its id names; the other gateways pass requests on. Runs on the
 * context on which it was made.
 *
 * @param <T> what is owned
 */
final class OwnedByGateway<T extends OwnedByGateway.Owned> {
  /** One of them. It calls {@link OwnedByGateway#ended} when it has ended. */
  interface Owned {
    /** Ends it. */
    Future<Void> close();
  }

  /** Answers questions about what this gateway owns, and those that open one. */
  interface Answers {
    /**
     * @param poll the header {@link Frames#POLL}, or null
     */
    Future<Object> answer(JsonObject question, String poll);
  }

  private static final long FORWARD_MILLIS = 28_000;

  private final Vertx vertx;
  private final String word;
  private final FairShare share;
  private final Answers answers;
  private final Context context;
  private final String gateway = randomId();
  private final Map<String, Held<T>> owned = new HashMap<>();
  private boolean stopped;
  private MessageConsumer<JsonObject> forwarded;

  /**
   * @param word what each of them is called, such as "session"; also the field with its id
   * @param kind what they are counted as
   * @param max most of them at once, of all users together
   */
  OwnedByGateway(Vertx vertx, String word, Scarce kind, int max, Answers answers) {
    this.vertx = vertx;
    this.word = word;
    share = Shares.of(vertx).divide(kind, max);
    this.answers = answers;
    context = vertx.getOrCreateContext();
  }

  private static String randomId() {
    return UUID.randomUUID().toString().replace("-", "");
  }

  Future<Void> start() {
    forwarded = vertx.eventBus().consumer(Addresses.gateway(gateway));
    forwarded.handler(
        message ->
            answerHere(message.body(), message.headers().get(Frames.POLL))
                .onSuccess(message::reply)
                .onFailure(failure -> ApiErrors.fail(message, failure)));
    return forwarded.completion();
  }

  /** Ends all of them. Those that are being opened end at once. */
  Future<Void> stop() {
    stopped = true;
    Future<Void> closed =
        Future.join(List.copyOf(owned.values()).stream().map(each -> each.owned().close()).toList())
            .mapEmpty();
    return closed.eventually(
        () -> forwarded == null ? Future.succeededFuture() : forwarded.unregister());
  }

  /**
   * Answers a question here if this gateway owns what it is about, or if it is about none, else in
   * the gateway that does.
   *
   * @param poll the header {@link Frames#POLL}, or null
   * @throws RefusedException UNKNOWN_SESSION if the question names something that never was
   */
  Future<Object> answer(JsonObject question, String poll) {
    String id = question.getValue(word) instanceof String named ? named : "";
    int dot = id.indexOf('.');
    if (dot < 0 || id.startsWith(gateway + ".")) {
      return answerHere(question, poll);
    }
    String other = id.substring(0, dot);
    if (!other.matches("[0-9a-f]{32}")) {
      throw unknown(word, id);
    }
    DeliveryOptions forward = new DeliveryOptions().setSendTimeout(FORWARD_MILLIS);
    if (poll != null) {
      forward.addHeader(Frames.POLL, poll);
    }
    return vertx
        .eventBus()
        .request(Addresses.gateway(other), question, forward)
        .map(reply -> reply.body())
        .recover(failure -> Future.failedFuture(elsewhere(word, id, failure)));
  }

  private Future<Object> answerHere(JsonObject question, String poll) {
    try {
      return answers.answer(question, poll);
    } catch (RefusedException e) {
      return Future.failedFuture(e);
    }
  }

  /** What became of a request that was passed on: it may have had an effect, with no answer. */
  static RefusedException elsewhere(String word, String id, Throwable failure) {
    RefusedException refused = RefusedException.parse(failure.getMessage());
    boolean gone =
        refused == null
            && failure instanceof ReplyException reply
            && reply.failureType() == ReplyFailure.NO_HANDLERS;
    return refused != null
        ? refused
        : gone
            ? unknown(word, id)
            : Refusal.INDETERMINATE.error(
                "the node of %s %s does not answer: the request may have had an effect", word, id);
  }

  private static RefusedException unknown(String word, String id) {
    return Refusal.UNKNOWN_SESSION.error(
        "there is no %s '%s': it has ended, or its node has; open another one", word, id);
  }

  /**
   * Opens one.
   *
   * @param user who opens it; null: there are no users
   * @param begin begins it, on an event loop of its own: this one answers requests
   * @param own makes it of what has begun and its id, on this context
   * @return it with its id; fails UNAVAILABLE if this gateway stops meanwhile
   * @throws RefusedException OVERLOADED if there are too many
   */
  <R> Future<Opened<T>> open(String user, Supplier<Future<R>> begin, BiFunction<R, String, T> own) {
    FairShare.Account account = share.of(user);
    account.take(1);
    Promise<Opened<T>> opened = Promise.promise();
    EventLoops.forHandlers(vertx)
        .runOnContext(
            none ->
                begun(begin)
                    .onComplete(
                        done ->
                            context.runOnContext(
                                back -> {
                                  if (done.failed()) {
                                    account.give(1);
                                    opened.fail(done.cause());
                                  } else {
                                    opened(done.result(), own, account, opened);
                                  }
                                })));
    return opened.future();
  }

  private static <R> Future<R> begun(Supplier<Future<R>> begin) {
    try {
      return begin.get();
    } catch (RuntimeException e) {
      return Future.failedFuture(e);
    }
  }

  private <R> void opened(
      R begun, BiFunction<R, String, T> own, FairShare.Account account, Promise<Opened<T>> opened) {
    String id = gateway + "." + randomId();
    T made = own.apply(begun, id);
    if (stopped) {
      account.give(1);
      opened.fail(Refusal.UNAVAILABLE.error("this node stops: open the %s on another node", word));
      made.close();
      return;
    }
    owned.put(id, new Held<>(made, account));
    opened.complete(new Opened<>(id, made));
  }

  private record Held<T>(T owned, FairShare.Account account) {}

  /** What was opened, and the id by which later questions name it. */
  record Opened<T>(String id, T owned) {}

  /**
   * One of them.
   *
   * @param fits whether the rest of the question fits it; if not, it counts as unknown
   * @throws RefusedException UNKNOWN_SESSION if it has ended
   */
  T get(String id, Predicate<T> fits) {
    Held<T> found = owned.get(id);
    if (found == null || !fits.test(found.owned())) {
      throw unknown(word, id);
    }
    return found.owned();
  }

  /** One of them has ended. */
  void ended(String id) {
    Held<T> ended = owned.remove(id);
    if (ended != null) {
      ended.account().give(1);
    }
  }
}
