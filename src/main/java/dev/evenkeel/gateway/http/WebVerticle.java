package dev.evenkeel.gateway.http;

import dev.evenkeel.api.DescribeCluster;
import dev.evenkeel.api.Operations;
import dev.evenkeel.bus.share.Scarce;
import dev.evenkeel.bus.share.Shares;
import dev.evenkeel.cluster.ClusterMembers;
import dev.evenkeel.cluster.SharedMaps;
import dev.evenkeel.gateway.ServerTls;
import dev.evenkeel.gateway.access.Access;
import dev.evenkeel.gateway.live.LiveHub;
import dev.evenkeel.protocol.Limits;
import dev.evenkeel.util.MonotonicClock;
import io.vertx.core.Future;
import io.vertx.core.VerticleBase;
import io.vertx.core.Vertx;
import io.vertx.core.http.HttpHeaders;
import io.vertx.core.http.HttpServer;
import io.vertx.core.http.HttpServerOptions;
import io.vertx.core.json.JsonObject;
import io.vertx.core.tracing.TracingPolicy;
import io.vertx.ext.web.Route;
import io.vertx.ext.web.Router;
import io.vertx.ext.web.RoutingContext;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;

/**
 * Serves the live page at {@code /} and the HTTP API, a thin layer over the {@code evenkeel.api}
 * addresses. {@code /openapi.json} describes the API. Errors are {@code
 * {"error":"UNKNOWN_TOPIC","message":"..."}}.
 *
 * <p>Its configuration is that of {@link WebOptions}.
 *
 * <p>{@code start()} fails with a {@code BindException} if the port is busy.
 */
public final class WebVerticle extends VerticleBase {
  private static final long STOP_SECONDS_MAX = 2;

  /** Watchers have nothing to send, so this is small. */
  private static final int FRAME_BYTES_MAX = 4 << 10;

  /** Longest first line of a request. */
  private static final int LINE_BYTES_MAX = 4 << 10;

  private static final int HEADERS_BYTES_MAX = 8 << 10;

  private HttpServer server;
  private LiveHub live;

  /** Null outside of the cluster. */
  private SharedMaps maps;

  /** Null without TLS. */
  private ServerTls tls;

  @Override
  public Future<?> start() {
    WebOptions config = new WebOptions(config() == null ? new JsonObject() : config());
    HostNames names = new HostNames(config.get(WebOptions.NAMES));
    HttpServerOptions options =
        new HttpServerOptions()
            .setHost(config.get(WebOptions.HOST))
            .setPort(config.get(WebOptions.PORT))
            .setIdleTimeout(WebOptions.IDLE_MILLIS_MAX)
            .setIdleTimeoutUnit(TimeUnit.MILLISECONDS)
            // Browsers do not use it, and every limit would be needed twice.
            .setHttp2ClearTextEnabled(false)
            .setMaxInitialLineLength(LINE_BYTES_MAX)
            .setMaxHeaderSize(HEADERS_BYTES_MAX)
            // A node continues traces, and begins none.
            .setTracingPolicy(TracingPolicy.PROPAGATE)
            .setCompressionSupported(true)
            // Each watcher would need its own compressor, which takes memory and time.
            .setPerMessageWebSocketCompressionSupported(false)
            .setPerFrameWebSocketCompressionSupported(false)
            .setMaxWebSocketFrameSize(FRAME_BYTES_MAX)
            .setMaxWebSocketMessageSize(FRAME_BYTES_MAX);
    String node = config.get(WebOptions.NODE);
    Connections connections = new Connections(config, Shares.of(vertx), MonotonicClock.millis());
    vertx.setPeriodic(config.tickMillis(), timer -> connections.tick(MonotonicClock.millis()));
    return ServerTls.open(vertx, "http", config.get(WebOptions.TLS))
        .compose(
            opened -> {
              tls = opened;
              // A Vert.x that is not in the cluster has no maps.
              return ClusterMembers.maps(vertx).otherwiseEmpty();
            })
        .compose(
            found -> {
              maps = found;
              return Access.of(
                  vertx, node, config.get(WebOptions.USERS), config.get(WebOptions.OIDC));
            })
        .compose(
            access -> {
              if (tls != null) {
                tls.applyTo(options);
              }
              if (access.takesLongTokens()) {
                options.setMaxHeaderSize(HEADERS_BYTES_MAX + Limits.TOKEN_CHARS_MAX);
              }
              RequestBodies bodies =
                  new RequestBodies(
                      Shares.of(vertx)
                          .divide(
                              Scarce.HTTP_BYTES_IN_FLIGHT,
                              config.get(WebOptions.BYTES_IN_FLIGHT_MAX)));
              Logins logins =
                  new Logins(vertx, node, config.get(WebOptions.NODES), MonotonicClock::millis);
              Callers callers = new Callers(access, logins, bodies, connections);
              Api api = new Api(vertx, callers, config.get(WebOptions.LOCAL_ONLY));
              live =
                  new LiveHub(
                      vertx,
                      node,
                      () -> api.ask(Operations.DESCRIBE_CLUSTER, new DescribeCluster()),
                      maps);
              LiveRoutes liveRoutes = new LiveRoutes(live, connections, callers);
              Guard guard =
                  new Guard(
                      names,
                      connections,
                      router(vertx, api, callers, node, bodies, liveRoutes, connections));
              server =
                  vertx
                      .createHttpServer(options)
                      .connectionHandler(connections::opened)
                      .invalidRequestHandler(guard::malformed)
                      .requestHandler(guard);
              if (tls != null) {
                // The TLS engine logs a failed handshake, and knows where it came from.
                server.exceptionHandler(failure -> {});
              }
              return logins.start().compose(started -> server.listen());
            });
  }

  /** The port that it listens on, for a configured port of 0. */
  public int actualPort() {
    return server.actualPort();
  }

  @Override
  public Future<?> stop() {
    if (live != null) {
      live.stop();
    }
    if (tls != null) {
      tls.close();
    }
    // Requests under way still get their answers.
    return server == null
        ? Future.succeededFuture()
        : server.shutdown(STOP_SECONDS_MAX, TimeUnit.SECONDS);
  }

  static Router router(
      Vertx vertx,
      Api api,
      Callers callers,
      String node,
      RequestBodies bodies,
      LiveRoutes live,
      Connections connections) {
    Router router = Router.router(vertx);
    callers.mount(router);
    new JsonRoutes(api, bodies).mount(router);
    new ProduceRoute(api, callers, bodies).mount(router);
    live.mount(router);
    new SessionEvents(vertx, api, connections).mount(router);
    new NodeRoutes(api, callers, node).mount(router);
    new PageRoutes(vertx).mount(router);
    router.route().failureHandler(context -> failed(router, context));
    for (int status : new int[] {400, 404, 405, 413, 415, 500}) {
      router.errorHandler(status, context -> failed(router, context));
    }
    return router;
  }

  /** The methods for which a path has routes. */
  private static String allowed(Router router, String path) {
    Set<String> methods = new TreeSet<>();
    for (Route route : router.getRoutes()) {
      if (route.getPath() != null && route.methods() != null && fits(route.getPath(), path)) {
        route.methods().forEach(method -> methods.add(method.name()));
      }
    }
    return String.join(", ", methods);
  }

  private static boolean fits(String pattern, String path) {
    List<String> expected = List.of(pattern.split("/"));
    List<String> given = List.of(path.split("/"));
    if (expected.size() != given.size()) {
      return false;
    }
    for (int i = 0; i < given.size(); i++) {
      if (!expected.get(i).startsWith(":") && !expected.get(i).equals(given.get(i))) {
        return false;
      }
    }
    return true;
  }

  private static void failed(Router router, RoutingContext context) {
    Throwable failure = context.failure();
    // Vert.x refuses a path with a broken % escape, without a reason or a status.
    boolean malformed = failure == null && context.statusCode() < 400;
    int status = malformed ? 400 : context.statusCode();
    if (failure instanceof ApiFailure || failure != null && status >= 500) {
      Api.fail(context, failure);
      return;
    }
    // The raw path: normalizing a malformed one would fail here again.
    String path = context.request().path();
    String message =
        switch (status) {
          case 400 -> malformed ? "the path has a broken % escape" : "bad request";
          case 404 -> "there is nothing at " + path + ": see /openapi.json";
          case 405 -> context.request().method() + " is not possible at " + path;
          case 413 -> "the body is too large";
          default -> "HTTP status " + status;
        };
    if (status == 405 && !context.response().headers().contains(HttpHeaders.ALLOW)) {
      context.response().putHeader(HttpHeaders.ALLOW, allowed(router, path));
    }
    int known = status < 400 ? 500 : status;
    Api.send(context, known, new ApiFailure(known, message).json());
  }
}
