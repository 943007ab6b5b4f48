package dev.evenkeel.web;

import dev.evenkeel.bus.Addresses;
import dev.evenkeel.model.Refusal;
import io.vertx.core.Future;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import io.vertx.ext.web.Router;
import io.vertx.ext.web.RoutingContext;
import io.vertx.ext.web.handler.BodyHandler;
import java.util.Base64;
import java.util.List;

/** Topics and their messages. */
final class TopicRoutes {
  /** Largest body of a request with settings. */
  static final int SETTINGS_BYTES_MAX = 64 << 10;

  /** Largest body with messages: one payload at its limit, escaped in the worst way, and more. */
  static final int MESSAGES_BYTES_MAX = 8 << 20;

  private final Api api;

  TopicRoutes(Api api) {
    this.api = api;
  }

  void mount(Router router) {
    BodyHandler settings = BodyHandler.create(false).setBodyLimit(SETTINGS_BYTES_MAX);
    BodyHandler messages = BodyHandler.create(false).setBodyLimit(MESSAGES_BYTES_MAX);
    router.get("/api/topics").handler(this::list);
    router.post("/api/topics").handler(settings).handler(this::create);
    router.get("/api/topics/:topic").handler(this::get);
    router.patch("/api/topics/:topic").handler(settings).handler(this::configure);
    router.delete("/api/topics/:topic").handler(this::delete);
    router.post("/api/topics/:topic/messages").handler(messages).handler(this::produce);
    router.get("/api/topics/:topic/messages").handler(this::browse);
  }

  private void list(RoutingContext context) {
    Requests.onlyQuery(context, List.of());
    api.answer(context, 200, topics("list", null));
  }

  private void get(RoutingContext context) {
    Requests.onlyQuery(context, List.of());
    api.answer(context, 200, topics("get", context.pathParam("topic")));
  }

  private void create(RoutingContext context) {
    JsonObject question = Requests.object(context).copy().put("action", "create");
    api.answer(context, 201, api.ask(Addresses.API_TOPICS, question));
  }

  private void configure(RoutingContext context) {
    JsonObject question = Requests.object(context).copy();
    String topic = context.pathParam("topic");
    Object named = question.getValue("name");
    if (named != null && !named.equals(topic)) {
      throw new WebException(ApiFailure.invalid("a topic cannot be renamed"));
    }
    question.put("action", "configure").put("name", topic);
    api.answer(context, 200, api.ask(Addresses.API_TOPICS, question));
  }

  private void delete(RoutingContext context) {
    api.answer(context, 200, topics("delete", context.pathParam("topic")));
  }

  private Future<Object> topics(String action, String name) {
    JsonObject question = new JsonObject().put("action", action);
    return api.ask(Addresses.API_TOPICS, name == null ? question : question.put("name", name));
  }

  private void browse(RoutingContext context) {
    Requests.onlyQuery(context, List.of("shard", "offset", "limit"));
    JsonObject question = new JsonObject().put("topic", context.pathParam("topic"));
    Requests.number(context, "shard", question);
    Requests.number(context, "offset", question);
    Requests.number(context, "limit", question);
    api.answer(context, 200, api.ask(Addresses.API_MESSAGES, question));
  }

  /** JSON: one message or an array of them. Anything else: the body is the payload. */
  private void produce(RoutingContext context) {
    Requests.onlyQuery(context, List.of("key"));
    String topic = context.pathParam("topic");
    if (!Requests.isJson(context)) {
      api.answer(context, 200, api.ask(Addresses.API_PRODUCE, raw(context, topic)));
      return;
    }
    if (context.queryParams().contains("key")) {
      throw new WebException(
          ApiFailure.invalid("with content-type application/json the key is a field of the body"));
    }
    Object body = Requests.json(context);
    if (body instanceof JsonArray messages) {
      JsonObject question = new JsonObject().put("topic", topic).put("messages", messages);
      api.ask(Addresses.API_PRODUCE, question)
          .onSuccess(answer -> sendResults(context, ((JsonObject) answer).getJsonArray("results")))
          .onFailure(failure -> Api.fail(context, failure));
    } else if (body instanceof JsonObject message) {
      if (message.containsKey("messages")) {
        throw new WebException(ApiFailure.invalid("send many messages as a JSON array of them"));
      }
      api.answer(context, 200, api.ask(Addresses.API_PRODUCE, message.copy().put("topic", topic)));
    } else {
      throw new WebException(
          ApiFailure.invalid(
              "the body must be a message {\"key\",\"payload\"} or an array of them"));
    }
  }

  private static JsonObject raw(RoutingContext context, String topic) {
    Buffer payload = Requests.body(context);
    JsonObject question =
        new JsonObject()
            .put("topic", topic)
            .put("payloadBase64", Base64.getEncoder().encodeToString(payload.getBytes()));
    String key = context.queryParams().get("key");
    return key == null ? question : question.put("key", key);
  }

  /** Success only if every message was acknowledged; else the first failure, with all results. */
  private static void sendResults(RoutingContext context, JsonArray results) {
    for (int i = 0; i < results.size(); i++) {
      String error = results.getJsonObject(i).getString("error");
      if (error != null) {
        int status = ApiFailure.status(Refusal.valueOf(error));
        String message = results.getJsonObject(i).getString("message");
        Api.send(
            context,
            status,
            new ApiFailure(status, error, "message " + i + ": " + message)
                .json()
                .put("results", results));
        return;
      }
    }
    Api.send(context, 200, results);
  }
}
