package dev.evenkeel.gateway.http;

import dev.evenkeel.api.Operations;
import dev.evenkeel.gateway.live.LiveHub;
import dev.evenkeel.protocol.Refusal;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.ext.web.Router;
import io.vertx.ext.web.RoutingContext;

/** Accepts the WebSockets of the live view. */
record LiveRoutes(LiveHub hub, Connections connections, Callers callers) {
  void mount(Router router) {
    JsonRoutes.route(router, Operations.WATCH).handler(this::watch);
  }

  private void watch(RoutingContext context) {
    HttpServerRequest request = context.request();
    if (!"websocket".equalsIgnoreCase(request.getHeader("upgrade"))) {
      refuse(context, 426, "BAD_REQUEST", "this is a WebSocket: connect with ws://");
    } else if (!Callers.principal(context).seesNodes()) {
      Api.fail(context, callers.refusal(context, "watch", "view:NAME, whatever the name"));
    } else if (!hub.expect()) {
      refuse(
          context,
          503,
          Refusal.OVERLOADED.name(),
          LiveHub.WATCHERS_MAX + " watch this node already: close some, or watch another node");
    } else {
      request
          .toWebSocket()
          .onComplete(
              upgraded -> {
                hub.accept(upgraded.result(), Callers.caller(context));
                if (upgraded.succeeded()) {
                  connections.left(request.connection());
                } else {
                  refuse(
                      context, 400, Refusal.INVALID.name(), "the WebSocket handshake is malformed");
                }
              });
    }
  }

  private static void refuse(RoutingContext context, int status, String error, String message) {
    Api.send(context.response(), new ApiFailure(status, error, message));
  }
}
