package dev.evenkeel.gateway.http;

import dev.evenkeel.bus.Addresses;
import io.vertx.core.json.JsonObject;
import io.vertx.ext.web.Router;
import io.vertx.ext.web.RoutingContext;
import io.vertx.ext.web.handler.BodyHandler;
import java.util.List;

/** Groups and their moves. */
final class GroupRoutes {
  /** Names of dead letters in one request: thousands of them. */
  private static final long NAMES_BYTES_MAX = 1 << 20;

  private final Api api;

  GroupRoutes(Api api) {
    this.api = api;
  }

  void mount(Router router) {
    BodyHandler names = BodyHandler.create(false).setBodyLimit(NAMES_BYTES_MAX);
    router.get("/api/groups").handler(this::list);
    router.get("/api/groups/:group").handler(this::get);
    router.delete("/api/groups/:group").handler(this::delete);
    router.get("/api/groups/:group/dead-letters").handler(this::deadLetters);
    router.get("/api/groups/:group/dead-letters/:topic/:shard/:offset").handler(this::deadLetter);
    router
        .post("/api/groups/:group/dead-letters/replay")
        .handler(names)
        .handler(c -> change(c, "replay"));
    router
        .post("/api/groups/:group/dead-letters/drop")
        .handler(names)
        .handler(c -> change(c, "drop"));
    router.post("/api/groups/:group/offsets").handler(names).handler(c -> change(c, "reset"));
    router.get("/api/rebalances").handler(this::rebalances);
  }

  private void deadLetters(RoutingContext context) {
    Requests.onlyQuery(context, List.of("after", "limit"));
    JsonObject question = of(context, "dead-letters");
    Requests.number(context, "limit", question);
    String after = context.queryParams().get("after");
    ask(context, after == null ? question : question.put("after", after));
  }

  private void deadLetter(RoutingContext context) {
    Requests.onlyQuery(context, List.of());
    String name =
        context.pathParam("topic")
            + "/"
            + context.pathParam("shard")
            + "/"
            + context.pathParam("offset");
    ask(context, of(context, "dead-letter").put("deadLetter", name));
  }

  private void change(RoutingContext context, String action) {
    Requests.onlyQuery(context, List.of());
    JsonObject question = Requests.question(context, action);
    ask(context, Requests.ofPath(context, question, "group", "group"));
  }

  private static JsonObject of(RoutingContext context, String action) {
    return new JsonObject().put("action", action).put("group", context.pathParam("group"));
  }

  private void list(RoutingContext context) {
    Requests.onlyQuery(context, List.of());
    ask(context, new JsonObject().put("action", "list"));
  }

  private void get(RoutingContext context) {
    Requests.onlyQuery(context, List.of());
    ask(context, new JsonObject().put("action", "get").put("group", context.pathParam("group")));
  }

  private void delete(RoutingContext context) {
    Requests.onlyQuery(context, List.of("topic", "dryRun"));
    JsonObject question = of(context, "delete");
    String topic = context.queryParams().get("topic");
    if (topic != null) {
      question.put("topic", topic);
    }
    Requests.flag(context, "dryRun", question);
    ask(context, question);
  }

  private void rebalances(RoutingContext context) {
    Requests.onlyQuery(context, List.of("group", "limit"));
    JsonObject question = new JsonObject().put("action", "rebalances");
    Requests.number(context, "limit", question);
    String group = context.queryParams().get("group");
    ask(context, group == null ? question : question.put("group", group));
  }

  private void ask(RoutingContext context, JsonObject question) {
    api.answer(context, 200, api.ask(Addresses.API_GROUPS, question));
  }
}
