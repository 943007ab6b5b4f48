package dev.evenkeel.gateway.http;

import dev.evenkeel.api.HttpStatus;
import dev.evenkeel.api.Operations;
import dev.evenkeel.gateway.access.JsonSize;
import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.util.MonotonicClock;
import io.vertx.core.Future;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import io.vertx.ext.web.Router;
import io.vertx.ext.web.RoutingContext;
import java.util.Base64;
import java.util.List;

/** The route that sends messages to a topic. */
final class ProduceRoute {
  private final Api api;
  private final Callers callers;
  private final RequestBodies bodies;
  private final IdempotentAnswers answers = new IdempotentAnswers();

  ProduceRoute(Api api, Callers callers, RequestBodies bodies) {
    this.api = api;
    this.callers = callers;
    this.bodies = bodies;
  }

  void mount(Router router) {
    JsonRoutes.route(router, Operations.PRODUCE)
        .handler(bodies.upTo(JsonSize.MESSAGES_BYTES_MAX))
        .handler(this::produce);
  }

  /**
   * A JSON body is one message, an array of messages, or an object with that array as {@code
   * messages}; an NDJSON body has one message per line, and any other body is the payload.
   */
  private void produce(RoutingContext context) {
    String acks = Requests.query(context, "key", "acks").get("acks");
    String topic = context.pathParam("topic");
    JsonObject question = question(context, topic);
    if (acks != null) {
      question.put("acks", acks);
    }
    // Here, too: a remembered answer is not for everybody.
    callers.check(context, Operations.PRODUCE.address(), question);
    String key = context.request().getHeader("idempotency-key");
    Future<IdempotentAnswers.Answer> answer =
        key == null
            ? answer(context, question)
            : answers.answer(
                Callers.principal(context).name(),
                topic,
                key,
                Requests.body(context),
                question.containsKey("messages") ? question.getJsonArray("messages").size() : 1,
                MonotonicClock.millis(),
                () -> answer(context, question));
    answer
        .onSuccess(given -> Api.send(context, given.status(), given.json()))
        .onFailure(failure -> Api.fail(context, failure));
  }

  private static JsonObject question(RoutingContext context, String topic) {
    boolean lines = Requests.isJsonLines(context);
    if (!lines && !Requests.isJson(context)) {
      return raw(context, topic);
    }
    if (context.queryParams().contains("key")) {
      throw ApiFailure.invalid("with a JSON content-type the key is a field of the message");
    }
    Object body = lines ? Requests.jsonLines(context) : Requests.json(context);
    if (body instanceof JsonArray messages) {
      return new JsonObject().put("topic", topic).put("messages", messages);
    } else if (body instanceof JsonObject message) {
      Object many = message.getValue("messages");
      if (many == null) {
        message.remove("messages");
      } else if (!(many instanceof JsonArray)) {
        throw ApiFailure.invalid("the field 'messages' must be an array of messages");
      }
      return Requests.ofPath(message.copy(), "topic", context.pathParam("topic"));
    }
    throw ApiFailure.invalid(
        "the body must be a message {\"key\",\"payload\"}, an array of them, or"
            + " {\"messages\":[...]}");
  }

  private Future<IdempotentAnswers.Answer> answer(RoutingContext context, JsonObject question) {
    boolean sentOnly = "none".equalsIgnoreCase(String.valueOf(question.getValue("acks")));
    return api.ask(context, Operations.PRODUCE.address(), question)
        .map(
            answer ->
                question.containsKey("messages")
                    ? results(((JsonObject) answer).getJsonArray("results"), sentOnly)
                    : new IdempotentAnswers.Answer(status(List.of(answer), sentOnly), answer, true))
        .recover(
            failure -> {
              ApiFailure known = ApiFailure.of(failure);
              return Future.succeededFuture(
                  new IdempotentAnswers.Answer(
                      known.status(), known.json(), mayHaveHappened(known.error())));
            });
  }

  /** 202 if a message is not known to be where the caller wants it. */
  private static int status(Iterable<?> results, boolean sentOnly) {
    boolean unsure = sentOnly;
    for (Object result : results) {
      unsure |= ((JsonObject) result).containsKey("missing");
    }
    return unsure ? 202 : 200;
  }

  /**
   * Whether the request may have had an effect, so that a repetition could send a message twice.
   */
  private static boolean mayHaveHappened(String error) {
    return error.equals(Refusal.INDETERMINATE.name()) || error.equals("INTERNAL");
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

  /** A success if every message was acknowledged; otherwise the first failure, with all results. */
  private static IdempotentAnswers.Answer results(JsonArray results, boolean sentOnly) {
    JsonObject failure = null;
    int index = 0;
    boolean someHappened = false;
    for (int i = 0; i < results.size(); i++) {
      String error = results.getJsonObject(i).getString("error");
      someHappened |= error == null || mayHaveHappened(error);
      if (error != null && failure == null) {
        failure = results.getJsonObject(i);
        index = i;
      }
    }
    if (failure == null) {
      return new IdempotentAnswers.Answer(status(results, sentOnly), results, true);
    }
    int status = HttpStatus.of(Refusal.valueOf(failure.getString("error")));
    String message = "message " + index + ": " + failure.getString("message");
    return new IdempotentAnswers.Answer(
        status,
        new ApiFailure(status, failure.getString("error"), message).json().put("results", results),
        someHappened);
  }
}
