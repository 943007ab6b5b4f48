package dev.evenkeel.gateway.http;

import dev.evenkeel.bus.Addresses;
import io.vertx.core.Future;
import io.vertx.core.http.HttpHeaders;
import io.vertx.core.http.HttpServerResponse;
import io.vertx.core.json.JsonArray;
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

  private final Api api;
  private final Connections connections;

  SessionEvents(Api api, Connections connections) {
    this.api = api;
    this.connections = connections;
  }

  void mount(Router router) {
    router.get("/api/groups/:group/sessions/:session/events").handler(this::stream);
  }

  private void stream(RoutingContext context) {
    Requests.readQuery(context, new JsonObject());
    // The first answer tells whether there is such a session.
    ask(context, true, 0)
        .onFailure(failure -> Api.fail(context, failure))
        .onSuccess(
            first -> {
              HttpServerResponse response = context.response();
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
              write(context, first);
            });
  }

  private Future<JsonArray> ask(RoutingContext context, boolean again, int waitMillis) {
    JsonObject question =
        new JsonObject()
            .put("action", "messages")
            .put("again", again)
            .put("max", MESSAGES_MAX)
            .put("waitMs", waitMillis);
    Requests.ofPath(context, question, "group", "group");
    Requests.ofPath(context, question, "session", "session");
    JsonRoutes.ofCaller(context, question);
    return api.ask(context, Addresses.API_SESSIONS, question)
        .map(answer -> ((JsonObject) answer).getJsonArray("messages"));
  }

  private void write(RoutingContext context, JsonArray messages) {
    HttpServerResponse response = context.response();
    StringBuilder events = new StringBuilder();
    for (Object each : messages) {
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
    response.write(events.isEmpty() ? ": waiting\n\n" : events.toString());
    if (response.writeQueueFull()) {
      response.drainHandler(drained -> next(context));
    } else {
      next(context);
    }
  }

  private void next(RoutingContext context) {
    HttpServerResponse response = context.response();
    if (response.closed() || response.ended()) {
      return;
    }
    response.drainHandler(null);
    ask(context, false, WAIT_MILLIS)
        .onSuccess(
            messages -> {
              if (!response.closed()) {
                write(context, messages);
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
