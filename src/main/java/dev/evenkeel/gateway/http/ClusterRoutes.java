package dev.evenkeel.gateway.http;

import dev.evenkeel.bus.Addresses;
import io.vertx.core.json.JsonObject;
import io.vertx.ext.web.Router;
import io.vertx.ext.web.RoutingContext;
import java.util.List;

/** The cluster's nodes and logs. */
final class ClusterRoutes {
  private final Api api;

  ClusterRoutes(Api api) {
    this.api = api;
  }

  void mount(Router router) {
    router.get("/api/cluster").handler(this::status);
  }

  private void status(RoutingContext context) {
    Requests.onlyQuery(context, List.of());
    api.answer(
        context, 200, api.ask(Addresses.API_CLUSTER, new JsonObject().put("action", "status")));
  }
}
