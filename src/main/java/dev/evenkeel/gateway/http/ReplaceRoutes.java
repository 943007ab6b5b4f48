package dev.evenkeel.gateway.http;

import dev.evenkeel.bus.Addresses;
import io.vertx.core.json.JsonObject;
import io.vertx.ext.web.Router;
import io.vertx.ext.web.RoutingContext;
import java.util.List;

/** Replacing a lost node by an empty one. */
final class ReplaceRoutes {
  private static final String PATH = "/api/cluster/nodes/:node/replace";

  private final Api api;

  ReplaceRoutes(Api api) {
    this.api = api;
  }

  void mount(Router router) {
    router.post(PATH).handler(context -> ask(context, "replace"));
    router.get(PATH).handler(context -> ask(context, "replacement"));
  }

  private void ask(RoutingContext context, String action) {
    Requests.onlyQuery(context, List.of());
    JsonObject question =
        new JsonObject().put("action", action).put("node", context.pathParam("node"));
    api.answer(context, 200, api.ask(Addresses.API_CLUSTER, question));
  }
}
