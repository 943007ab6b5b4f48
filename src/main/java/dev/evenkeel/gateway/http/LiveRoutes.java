package dev.evenkeel.gateway.http;

import dev.evenkeel.gateway.live.LiveHub;
import dev.evenkeel.protocol.Refusal;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.net.HostAndPort;
import io.vertx.ext.web.Router;
import io.vertx.ext.web.RoutingContext;
import java.net.URI;
import java.util.Locale;

/** Accepts the WebSockets of the live view. */
final class LiveRoutes {
  private final LiveHub hub;

  LiveRoutes(LiveHub hub) {
    this.hub = hub;
  }

  void mount(Router router) {
    router.get("/ws/live").handler(this::watch);
  }

  private void watch(RoutingContext context) {
    HttpServerRequest request = context.request();
    if (!"websocket".equalsIgnoreCase(request.getHeader("upgrade"))) {
      refuse(context, 426, "BAD_REQUEST", "this is a WebSocket: connect with ws://");
    } else if (!sameOrigin(request.getHeader("origin"), request.authority())) {
      // Otherwise any page that is open in a browser could watch the cluster.
      refuse(context, 403, "FORBIDDEN", "a page of another host may not watch this node");
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
                hub.accept(upgraded.result());
                if (upgraded.failed()) {
                  refuse(
                      context, 400, Refusal.INVALID.name(), "the WebSocket handshake is malformed");
                }
              });
    }
  }

  private static void refuse(RoutingContext context, int status, String error, String message) {
    Api.send(context, status, new ApiFailure(status, error, message).json());
  }

  /**
   * @param origin the origin of the page, as a browser sends it; null from other programs
   * @param authority host and port of the request, or null
   */
  static boolean sameOrigin(String origin, HostAndPort authority) {
    if (origin == null) {
      return true;
    }
    try {
      URI page = URI.create(origin);
      if (page.getHost() == null || authority == null) {
        return false;
      }
      int usual = "https".equalsIgnoreCase(page.getScheme()) ? 443 : 80;
      int pagePort = page.getPort() < 0 ? usual : page.getPort();
      int port = authority.port() <= 0 ? usual : authority.port();
      return page.getHost()
              .toLowerCase(Locale.ROOT)
              .equals(authority.host().toLowerCase(Locale.ROOT))
          && pagePort == port;
    } catch (IllegalArgumentException e) {
      return false;
    }
  }
}
