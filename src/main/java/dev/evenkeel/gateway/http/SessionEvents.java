package dev.evenkeel.gateway.http;

import dev.evenkeel.api.ApiAddresses;
import dev.evenkeel.api.ExtendSession;
import dev.evenkeel.api.InSession;
import dev.evenkeel.api.Operations;
import dev.evenkeel.api.PollMessages;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.http.HttpHeaders;
import io.vertx.core.http.HttpServerResponse;
import io.vertx.core.json.JsonObject;
import io.vertx.ext.web.Router;
import io.vertx.ext.web.RoutingContext;

/**
 * Sends the messages of a session as server-sent events, as long as the caller reads them. The
 * first are those that the session has given out before and that have not ended.
 */
record SessionEvents(Vertx vertx, Api api, Connections connections) {
  private static final int MESSAGES_MAX = 100;
  private static final int WAIT_MILLIS = 10_000;

  /** Shorter than any session stays after its last request. */
  private static final long KEEP_MILLIS = 2_000;

  void mount(Router router) {
    JsonRoutes.route(router, Operations.STREAM_MESSAGES)
        .handler(context -> new Stream(context).begin());
  }

  /** The events of one request. */
  private final class Stream {
    private final RoutingContext context;
    private final HttpServerResponse response;
    private final InSession session;

    /** The question whose answer the caller has not got, or the last one. */
    private LongPoll poll;

    Stream(RoutingContext context) {
      this.context = context;
      response = context.response();
      session =
          Operations.STREAM_MESSAGES
              .question(JsonRoutes.question(context, Operations.STREAM_MESSAGES))
              .in();
    }

    void begin() {
      context.addEndHandler(
          ended -> {
            if (ended.failed()) {
              poll.abandon();
            }
          });
      // The first answer tells whether there is such a session.
      ask(0, true)
          .onFailure(failure -> Api.fail(context, failure))
          .onSuccess(
              first -> {
                if (response.closed()) {
                  return;
                }
                connections.left(context.request().connection());
                response
                    .setChunked(true)
                    .putHeader("content-type", "text/event-stream")
                    .putHeader("cache-control", "no-store")
                    // A compressor would keep events back.
                    .putHeader(HttpHeaders.CONTENT_ENCODING, HttpHeaders.IDENTITY);
                write(first);
              });
    }

    private Future<Object> ask(int waitMillis, boolean again) {
      poll = LongPoll.of(api, context, new PollMessages(session, MESSAGES_MAX, waitMillis, again));
      return poll.ask();
    }

    private void write(Object answer) {
      StringBuilder events = new StringBuilder();
      for (Object each : ((JsonObject) answer).getJsonArray("messages")) {
        events.append(Operations.STREAM_MESSAGES.event((JsonObject) each));
      }
      // A comment shows whether the caller is still there.
      poll.written(response.write(events.isEmpty() ? ": waiting\n\n" : events.toString()));
      if (!response.writeQueueFull()) {
        next();
        return;
      }
      // The caller reads slowly. As long as its connection lasts, so does the session.
      long keep = vertx.setPeriodic(KEEP_MILLIS, timer -> keep(timer));
      response.drainHandler(
          drained -> {
            vertx.cancelTimer(keep);
            response.drainHandler(null);
            next();
          });
    }

    private void keep(long timer) {
      if (response.closed()) {
        vertx.cancelTimer(timer);
      } else {
        JsonObject extend = Operations.EXTEND_SESSION.ask(new ExtendSession(session));
        api.ask(context, ApiAddresses.SESSIONS, extend);
      }
    }

    private void next() {
      if (response.closed() || response.ended()) {
        return;
      }
      ask(WAIT_MILLIS, false)
          .onSuccess(
              answer -> {
                if (!response.closed()) {
                  write(answer);
                }
              })
          .onFailure(
              failure -> {
                if (!response.closed()) {
                  response.end(
                      "event: end\ndata: " + ApiFailure.of(failure).json().encode() + "\n\n");
                }
              });
    }
  }
}
