package dev.evenkeel.gateway.http;

import dev.evenkeel.bus.meters.Meters;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import io.vertx.core.Vertx;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpServerResponse;
import io.vertx.ext.web.Router;
import io.vertx.ext.web.RoutingContext;
import java.util.List;

/** The figures of this node, for Prometheus. */
final class MetricsRoutes {
  private static final String TEXT = "text/plain; version=0.0.4; charset=utf-8";
  private static final String OPEN_METRICS =
      "application/openmetrics-text; version=1.0.0; charset=utf-8";

  private final Vertx vertx;

  MetricsRoutes(Vertx vertx) {
    this.vertx = vertx;
  }

  void mount(Router router) {
    router.get("/metrics").handler(this::metrics);
  }

  /** Reads what is to be read, then writes it all down on a thread for figures. */
  private void metrics(RoutingContext context) {
    Requests.onlyQuery(context, List.of());
    Meters meters = Meters.of(vertx);
    if (!(meters.registry() instanceof PrometheusMeterRegistry registry)) {
      throw new WebException(
          new ApiFailure(
              404,
              ApiFailure.nameOf(404),
              "no figures are kept here: put a PrometheusMeterRegistry into LocalObjects first"));
    }
    String type = wantsOpenMetrics(context) ? OPEN_METRICS : TEXT;
    meters
        .refresh()
        .compose(read -> meters.blocking(() -> Buffer.buffer(registry.scrape(type))))
        .onSuccess(text -> send(context, type, text))
        .onFailure(failure -> Api.fail(context, failure));
  }

  /** Not any other form that the library knows: the binary one needs more than this node has. */
  private static boolean wantsOpenMetrics(RoutingContext context) {
    String accept = context.request().getHeader("accept");
    return accept != null && accept.contains("application/openmetrics-text");
  }

  private static void send(RoutingContext context, String type, Buffer text) {
    HttpServerResponse response = context.response();
    // The caller may be gone.
    if (!response.ended() && !response.closed()) {
      response.putHeader("content-type", type).putHeader("cache-control", "no-store").end(text);
    }
  }
}
