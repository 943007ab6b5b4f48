package dev.evenkeel.gateway.http;

import dev.evenkeel.api.ApiAddresses;
import dev.evenkeel.api.Operation;
import dev.evenkeel.bus.Frames;
import dev.evenkeel.gateway.access.ApiRules;
import dev.evenkeel.gateway.access.Principal;
import dev.evenkeel.gateway.access.PrincipalQuota;
import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.RefusedException;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.eventbus.DeliveryOptions;
import io.vertx.core.http.HttpServerResponse;
import io.vertx.core.json.Json;
import io.vertx.core.json.JsonObject;
import io.vertx.ext.web.RoutingContext;

/**
 * Sends a question to an {@code evenkeel.api} address, and writes the answer into an HTTP response.
 */
final class Api {
  /** Longer than any wait behind the addresses. */
  private static final long TIMEOUT_MILLIS = 30_000;

  /** A full buffer empties, and a new leader is elected, within about a second. */
  private static final long RETRY_AFTER_MILLIS = 1_000;

  private final Vertx vertx;
  private final DeliveryOptions options;
  private final Callers callers;

  /**
   * @param callers who sends requests
   * @param localOnly whether to ask only the gateway of this JVM, which every node has
   */
  Api(Vertx vertx, Callers callers, boolean localOnly) {
    this.vertx = vertx;
    this.callers = callers;
    this.options = new DeliveryOptions().setSendTimeout(TIMEOUT_MILLIS).setLocalOnly(localOnly);
  }

  /** Asks on behalf of whoever sends a request; fails FORBIDDEN if they may not ask that. */
  Future<Object> ask(RoutingContext context, String address, JsonObject question) {
    return ask(context, address, question, null);
  }

  /**
   * As {@link #ask(RoutingContext, String, JsonObject)}.
   *
   * @param poll see {@link Frames#POLL}; null: none
   */
  Future<Object> ask(RoutingContext context, String address, JsonObject question, String poll) {
    Principal principal;
    try {
      callers.check(context, address, question);
      principal = Callers.principal(context);
    } catch (RefusedException e) {
      return Future.failedFuture(e);
    }
    PrincipalQuota.Turn turn =
        address.equals(ApiAddresses.PRODUCE)
            ? PrincipalQuota.turn(vertx, principal, question)
            : null;
    String user = principal.bound() ? principal.name() : null;
    return (turn == null
            ? ask(address, question, poll, user)
            : turn.come()
                .compose(now -> ask(address, question, poll, user))
                .onSuccess(turn::answered)
                .onFailure(turn::failed))
        .map(answer -> ApiRules.visible(principal, address, question, answer))
        .onComplete(done -> callers.acted(context, principal, address, question, done.cause()));
  }

  /** Asks on behalf of the node itself. */
  <Q extends Record, A> Future<A> ask(Operation<Q, A> operation, Q question) {
    return ask(operation.address(), operation.ask(question), null).map(operation::readAnswer);
  }

  /**
   * Asks on behalf of the node itself.
   *
   * @param poll see {@link Frames#POLL}; null: none
   */
  Future<Object> ask(String address, JsonObject question, String poll) {
    return ask(address, question, poll, null);
  }

  /**
   * @param user on whose behalf; null: on that of the node
   */
  private Future<Object> ask(String address, JsonObject question, String poll, String user) {
    DeliveryOptions sent = options;
    if (poll != null || user != null) {
      sent = new DeliveryOptions(options);
      if (poll != null) {
        sent.addHeader(Frames.POLL, poll);
      }
      if (user != null) {
        sent.addHeader(Frames.USER, user);
      }
    }
    return vertx.eventBus().request(address, question, sent).map(reply -> reply.body());
  }

  void answer(RoutingContext context, int status, Future<?> answer) {
    answer.onComplete(
        done -> {
          if (done.failed()) {
            fail(context, done.cause());
          } else if (status == 204) {
            context.response().setStatusCode(status).end();
          } else {
            send(context, status, done.result());
          }
        });
  }

  static void fail(RoutingContext context, Throwable failure) {
    send(context.response(), ApiFailure.of(failure));
  }

  /** Completes when the answer is written; fails if the caller has left. */
  static Future<Void> send(RoutingContext context, int status, Object json) {
    return send(context.response(), status, json);
  }

  static void send(HttpServerResponse response, ApiFailure failure) {
    send(response, failure.status(), failure.json());
  }

  /** What the message of the error says, in seconds, rounded up. */
  static String retryAfterSeconds(Object error) {
    String message = error instanceof JsonObject json ? json.getString("message") : null;
    long millis =
        RefusedException.received(Refusal.OVERLOADED, message)
                instanceof RefusedException.QuotaReached quota
            ? quota.retryAfterMillis()
            : RETRY_AFTER_MILLIS;
    return Long.toString((millis + 999) / 1_000);
  }

  private static Future<Void> send(HttpServerResponse response, int status, Object json) {
    // The caller may have left, or a failure may follow an answer.
    if (response.ended() || response.closed()) {
      return Future.failedFuture("the caller has left, or has an answer");
    }
    if (status == 429 || status == 503) {
      response.putHeader("retry-after", retryAfterSeconds(json));
    }
    return response
        .setStatusCode(status)
        .putHeader("content-type", "application/json")
        .putHeader("cache-control", "no-store")
        .end(Json.encodeToBuffer(json).appendByte((byte) '\n'));
  }
}
