package dev.evenkeel.gateway.http;

import dev.evenkeel.bus.Addresses;
import dev.evenkeel.bus.LocalObjects;
import dev.evenkeel.bus.Readiness;
import io.vertx.core.json.JsonObject;
import io.vertx.ext.web.Router;
import io.vertx.ext.web.RoutingContext;

/** Whether the node lives, and whether it can serve. */
final class HealthRoutes {
  private final Api api;
  private final String node;

  HealthRoutes(Api api, String node) {
    this.api = api;
    this.node = node;
  }

  void mount(Router router) {
    router.get("/health/live").handler(this::live);
    router.get("/health/ready").handler(this::ready);
  }

  private void live(RoutingContext context) {
    Api.send(context, 200, new JsonObject().put("status", "UP").put("node", node));
  }

  /**
   * Ready: all parts of the node have started, every log group has a leader, and the dispatcher
   * answers.
   */
  private void ready(RoutingContext context) {
    Readiness readiness = LocalObjects.get(context.vertx(), Readiness.class);
    String obstacle = readiness == null ? null : readiness.obstacle();
    if (obstacle != null) {
      down(context, obstacle);
      return;
    }
    api.ask(Addresses.API_TOPICS, new JsonObject().put("action", "ready"))
        .onSuccess(
            ready -> {
              if (readiness == null || readiness.serving()) {
                live(context);
              } else {
                down(context, "the cluster serves, but this node is still starting, or stopping");
              }
            })
        .onFailure(failure -> down(context, ApiFailure.of(failure).message()));
  }

  private void down(RoutingContext context, String reason) {
    Api.send(
        context,
        503,
        new JsonObject().put("status", "DOWN").put("node", node).put("reason", reason));
  }
}
