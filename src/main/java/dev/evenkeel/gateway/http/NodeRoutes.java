package dev.evenkeel.gateway.http;

import dev.evenkeel.api.AskReady;
import dev.evenkeel.api.HealthView;
import dev.evenkeel.api.Operations;
import dev.evenkeel.api.RecordJson;
import dev.evenkeel.bus.LocalObjects;
import dev.evenkeel.bus.Readiness;
import dev.evenkeel.bus.meters.Meters;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpServerResponse;
import io.vertx.core.json.JsonObject;
import io.vertx.ext.web.Router;
import io.vertx.ext.web.RoutingContext;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Serves the health, the metrics and the API description of a node. */
record NodeRoutes(Api api, Callers callers, String node) {
  private static final Logger LOG = LoggerFactory.getLogger(NodeRoutes.class);

  /** How often metrics are written until it is an error that a meter is found twice. */
  private static final int WRITES_MAX = 5;

  private static final String TEXT = "text/plain; version=0.0.4; charset=utf-8";
  private static final String OPEN_METRICS =
      "application/openmetrics-text; version=1.0.0; charset=utf-8";

  /** The description of the HTTP API, from a file beside this class. */
  static final JsonObject OPEN_API = read();

  void mount(Router router) {
    JsonRoutes.route(router, Operations.LIVE).handler(this::live);
    JsonRoutes.route(router, Operations.READY).handler(this::ready);
    JsonRoutes.route(router, Operations.METRICS).handler(this::metrics);
    JsonRoutes.route(router, Operations.OPENAPI)
        .handler(context -> Api.send(context, 200, OPEN_API));
  }

  /** Whether a path is that of a question for the health of the node. */
  static boolean isHealth(String path) {
    return Operations.LIVE.path().equals(path) || Operations.READY.path().equals(path);
  }

  private void live(RoutingContext context) {
    health(context, 200, HealthView.Status.UP, null);
  }

  /**
   * A node is ready if all its parts have started, every log group has a leader, and the dispatcher
   * answers.
   */
  private void ready(RoutingContext context) {
    Readiness readiness = LocalObjects.get(context.vertx(), Readiness.class);
    String obstacle = readiness == null ? null : readiness.obstacle();
    if (obstacle != null) {
      down(context, obstacle);
      return;
    }
    api.ask(Operations.ASK_READY, new AskReady())
        .onSuccess(
            ready -> {
              if (readiness == null || readiness.serving()) {
                live(context);
              } else {
                down(context, "the cluster serves, but this node is still starting, or stopping");
              }
            })
        .onFailure(failure -> down(context, ApiFailure.of(failure).getMessage()));
  }

  private void down(RoutingContext context, String reason) {
    health(context, 503, HealthView.Status.DOWN, reason);
  }

  private void health(RoutingContext context, int status, HealthView.Status health, String reason) {
    Api.send(context, status, RecordJson.json(new HealthView(health, node, reason)));
  }

  /** Reads the values, then writes the metrics on a thread for metrics. */
  private void metrics(RoutingContext context) {
    Requests.query(context);
    if (!Callers.principal(context).seesAll()) {
      throw callers.refusal(context, "metrics", "view:*");
    }
    Meters meters = Meters.of(context.vertx());
    if (!(meters.registry() instanceof PrometheusMeterRegistry registry)) {
      throw new ApiFailure(
          404,
          "this program keeps no metrics: put a PrometheusMeterRegistry into LocalObjects first");
    }
    String type = wantsOpenMetrics(context) ? OPEN_METRICS : TEXT;
    meters
        .refresh()
        .compose(read -> meters.blocking(() -> written(() -> registry.scrape(type))))
        .onSuccess(text -> send(context, type, text))
        .onFailure(failure -> Api.fail(context, failure));
  }

  /**
   * Writes the metrics. Who removes a meter and registers it again meanwhile can have it found
   * twice, which the library refuses (micrometer issue 6851): then they are written again.
   */
  static Buffer written(Supplier<String> metrics) {
    for (int i = 1; i < WRITES_MAX; i++) {
      try {
        return Buffer.buffer(metrics.get());
      } catch (IllegalArgumentException foundTwice) {
        LOG.debug("the metrics are written again", foundTwice);
      }
    }
    return Buffer.buffer(metrics.get());
  }

  /**
   * Only this form and the plain one: the binary form of the library needs classes that the jar
   * does not have.
   */
  private static boolean wantsOpenMetrics(RoutingContext context) {
    String accept = context.request().getHeader("accept");
    return accept != null && accept.contains("application/openmetrics-text");
  }

  private static void send(RoutingContext context, String type, Buffer text) {
    HttpServerResponse response = context.response();
    // The caller may have left.
    if (!response.ended() && !response.closed()) {
      response.putHeader("content-type", type).putHeader("cache-control", "no-store").end(text);
    }
  }

  private static JsonObject read() {
    try (InputStream in = NodeRoutes.class.getResourceAsStream("openapi.json")) {
      return new JsonObject(Buffer.buffer(in.readAllBytes()));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
