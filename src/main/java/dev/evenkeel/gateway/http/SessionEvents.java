package dev.evenkeel.gateway.http;

import dev.evenkeel.bus.Addresses;
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
final class SessionEvents {
  private static final int MESSAGES_MAX = 100;
  private static final int WAIT_MILLIS = 10_000;

  /** Shorter than any session stays after its last request. */
  private static final long KEEP_MILLIS = 2_000;

  private final Vertx vertx;
  private final Api api;
  private final Connections connections;

  SessionEvents(Vertx vertx, Api api, Connections connections) {
    this.vertx = vertx;
    this.api = api;
    this.connections = connections;
  }

  void mount(Router router) {
    router
        .get("/api/groups/:group/sessions/:session/events")
        .handler(context -> new Stream(context).begin());
  }

  /** The events of one request. */
  private final class Stream {
    private final RoutingContext context;
    private final HttpServerResponse response;

    /** The question whose answer the caller has not got, or the last one. */
    private SessionPoll poll;

    Stream(RoutingContext context) {
      this.context = context;
      response = context.response();
    }

    void begin() {
      Requests.readQuery(context, new JsonObject());
      context.addEndHandler(
          ended -> {
            if (ended.failed()) {
              poll.abandon();
            }
          });
      poll = new SessionPoll(api, context);
      // The first answer tells whether there is such a session.
      poll.ask(options(true, 0))
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

    private static JsonObject options(boolean again, int waitMillis) {
      return new JsonObject()
          .put("again", again)
          .put("max", MESSAGES_MAX)
          .put("waitMs", waitMillis);
    }

    private void write(Object answer) {
      StringBuilder events = new StringBuilder();
      for (Object each : ((JsonObject) answer).getJsonArray("messages")) {
        JsonObject message = (JsonObject) each;
        events
            .append("id: ")
            .append(message.getString("topic"))
            .append('/')
            .append(message.getValue("shard"))
            .append('/')
            .append(message.getValue("offset"))
            .append("\nevent: message\ndata: ")
            .append(message.encode())
            .append("\n\n");
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
        api.ask(Addresses.API_SESSIONS, SessionPoll.question(context, "extend"));
      }
    }

    private void next() {
      if (response.closed() || response.ended()) {
        return;
      }
      poll = new SessionPoll(api, context);
      poll.ask(options(false, WAIT_MILLIS))
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
