package dev.evenkeel.gateway.http;

import dev.evenkeel.bus.share.FairShare;
import dev.evenkeel.bus.share.Scarce;
import dev.evenkeel.bus.share.Shares;
import dev.evenkeel.gateway.Strangers;
import dev.evenkeel.protocol.Refusal;
import io.vertx.core.http.HttpConnection;
import io.vertx.core.http.HttpServerRequest;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Limits the number of open connections, and the time that each takes to send a request. For use on
 * one context.
 *
 * <p>What a connection may do, and for how long:
 *
 * <pre>
 * send its first request          requestMillisMax from its opening, for head and body together
 * send the head of the next one   idleMillisMax from the answer before
 * send the body of that one       requestMillisMax from the head
 * wait for an answer              no limit here: the answer has its own
 * </pre>
 *
 * Connections that become WebSockets leave, because the live view has its own limits.
 *
 * <p>When there are too many, one goes that is idle or slow and has not shown whose it is, see
 * {@link Strangers}. If there is none, the new one learns that the node is full. Even then a
 * question for the node's health is answered, since others restart a node that does not answer.
 */
final class Connections {
  /** So many connections past the limit learn why they are refused. */
  private static final int REFUSED_MAX = 64;

  /** A request that comes so slowly is no reason to keep a stranger's connection. */
  private static final long SLOW_MILLIS = 3_000;

  /** How long a connection past the limit may take for its request. */
  private static final long REFUSED_MILLIS_MAX = 1_000;

  private static final class Open {
    final HttpConnection connection;

    /** Whether it is past the limit. */
    final boolean refused;

    /** When the present request must be there; without one, the head of the next. */
    long deadlineMillis;

    /** The request under way; null: none. */
    HttpServerRequest request;

    /** When the head of that request arrived. */
    long receivedMillis;

    /** The user to whom it belongs; null: it has not shown whose it is. */
    FairShare.Account user;

    /** Whether the head of a request has ever arrived. */
    boolean begun;

    Open(HttpConnection connection, boolean refused, long deadlineMillis) {
      this.connection = connection;
      this.refused = refused;
      this.deadlineMillis = deadlineMillis;
    }
  }

  private final WebOptions limits;
  private final FairShare users;
  private final Map<HttpConnection, Open> open = new HashMap<>();
  private final Strangers<Open> strangers;
  private final Strangers<Open> refused;

  /** The time since the first tick; it does not go on while the node is held up. */
  private long nowMillis;

  private long tickedMillis;

  /**
   * @param nowMillis of a monotonic clock
   */
  Connections(WebOptions limits, Shares shares, long nowMillis) {
    this.limits = limits;
    users = shares.divide(Scarce.HTTP_CONNECTIONS, limits.get(WebOptions.CONNECTIONS_MAX));
    this.tickedMillis = nowMillis;
    strangers = new Strangers<>(Integer.MAX_VALUE, this::mayGo);
    refused = new Strangers<>(REFUSED_MAX, this::mayGo);
  }

  void opened(HttpConnection connection) {
    if (isFull()) {
      close(strangers.evict());
    }
    boolean isRefused = isFull();
    long millis = isRefused ? REFUSED_MILLIS_MAX : limits.get(WebOptions.REQUEST_MILLIS_MAX);
    Open one = new Open(connection, isRefused, nowMillis + millis);
    open.put(connection, one);
    connection.closeHandler(closed -> left(connection));
    close(
        (isRefused ? refused : strangers).came(one, Strangers.source(connection.remoteAddress())));
  }

  /** Whether it is idle, or its request comes slowly. */
  private boolean mayGo(Open one) {
    HttpServerRequest request = one.request;
    return request == null
        || request.response().ended()
        || !request.isEnded() && nowMillis - one.receivedMillis >= SLOW_MILLIS;
  }

  private boolean isFull() {
    return open.size() - refused.count() >= limits.get(WebOptions.CONNECTIONS_MAX);
  }

  /**
   * @param one null: none
   */
  private void close(Open one) {
    if (one != null) {
      left(one.connection);
      one.connection.close();
    }
  }

  /** A connection has closed or is no longer one for requests. */
  void left(HttpConnection connection) {
    Open one = open.remove(connection);
    if (one != null) {
      strangers.left(one);
      refused.left(one);
      if (one.user != null) {
        one.user.give(1);
      }
    }
  }

  /**
   * A connection has shown whose it is. It belongs to the first user of which a request comes.
   *
   * @throws dev.evenkeel.protocol.RefusedException OVERLOADED if the user has too many
   */
  void identified(HttpConnection connection, String user) {
    Open one = open.get(connection);
    if (one == null || one.user != null) {
      return;
    }
    FairShare.Account account = users.of(user);
    account.take(1);
    one.user = account;
    strangers.left(one);
  }

  /** The head of a request has arrived. */
  void received(HttpServerRequest request) {
    Open one = open.get(request.connection());
    if (one == null) {
      return;
    }
    one.request = request;
    if (one.begun) {
      one.deadlineMillis = nowMillis + limits.get(WebOptions.REQUEST_MILLIS_MAX);
    }
    one.begun = true;
    one.receivedMillis = nowMillis;
    strangers.used(one);
  }

  /**
   * Why requests on a connection are refused, in which case it is to be closed; null: they are not.
   */
  ApiFailure refusal(HttpConnection connection) {
    Open one = open.get(connection);
    if (one != null && !one.refused) {
      return null;
    }
    return new ApiFailure(
        503,
        Refusal.OVERLOADED.name(),
        "the node has %s connections, its limit (http-connections-max): try again after a pause"
            .formatted(limits.get(WebOptions.CONNECTIONS_MAX)));
  }

  /**
   * Checks all deadlines. After a pause of the whole node, clients have sent what is not read yet,
   * so a long pause counts as a short one.
   *
   * @param millis of a monotonic clock
   */
  void tick(long millis) {
    nowMillis += Math.min(millis - tickedMillis, 2 * limits.tickMillis());
    tickedMillis = millis;
    List.copyOf(open.values()).forEach(this::check);
  }

  private void check(Open one) {
    HttpServerRequest request = one.request;
    if (request != null && request.isEnded()) {
      if (request.response().ended()) {
        one.request = null;
        one.deadlineMillis = nowMillis + limits.get(WebOptions.IDLE_MILLIS);
      }
    } else if (nowMillis >= one.deadlineMillis) {
      if (request != null) {
        Api.send(
            request.response(),
            new ApiFailure(
                408,
                "REQUEST_TIMEOUT",
                "the request did not come whole within %s ms"
                    .formatted(limits.get(WebOptions.REQUEST_MILLIS_MAX))));
      }
      one.connection.close();
    }
  }
}
