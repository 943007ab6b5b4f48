package dev.evenkeel.gateway.http;

import dev.evenkeel.api.Operation;
import dev.evenkeel.api.Operations;
import dev.evenkeel.api.RecordJson;
import dev.evenkeel.gateway.access.JsonSize;
import io.vertx.core.http.HttpMethod;
import io.vertx.core.json.JsonObject;
import io.vertx.ext.web.Route;
import io.vertx.ext.web.Router;
import io.vertx.ext.web.RoutingContext;
import java.util.List;
import java.util.Map;

/**
 * Passes requests on to {@code evenkeel.api} addresses. The question has a field for each parameter
 * of the path, each known parameter of the query, and each field of the body.
 */
record JsonRoutes(Api api, RequestBodies bodies) {
  void mount(Router router) {
    route(router, Operations.BROWSE).handler(this::browse);
    route(router, Operations.POLL_MESSAGES).handler(this::poll);
    route(router, Operations.WATCH_CANDIDATE).handler(this::watch);
    Operations.all().stream()
        .filter(operation -> operation.method() != null && !operation.hasOwnRoute())
        .forEach(operation -> mount(router, operation));
  }

  /** The route of an operation, yet without a handler. */
  static Route route(Router router, Operation<?, ?> operation) {
    String path = operation.path(parameter -> ":" + parameter);
    return router.route(HttpMethod.valueOf(operation.method().name()), path);
  }

  /** The route of an operation, with its body if it has one. */
  private Route withBody(Router router, Operation<?, ?> operation) {
    Route route = route(router, operation);
    return operation.hasBody() ? route.handler(bodies.upTo(JsonSize.bytesMax(operation))) : route;
  }

  private void mount(Router router, Operation<?, ?> operation) {
    withBody(router, operation)
        .handler(
            context ->
                api.answer(
                    context,
                    operation.status(),
                    api.ask(context, operation.address(), question(context, operation))));
  }

  /** The question that a request asks. */
  static JsonObject question(RoutingContext context, Operation<?, ?> operation) {
    boolean lacksBody = !operation.isBodyNeeded() && Requests.body(context).length() == 0;
    JsonObject question;
    RecordJson<?> form = RecordJson.of(operation.questionType());
    if (operation.hasBody() && !lacksBody) {
      question = Requests.question(context, operation.action());
    } else {
      question = operation.withAction(new JsonObject());
    }
    List<String> known = operation.hasBody() ? List.of() : operation.queryParameters();
    for (Map.Entry<String, String> each : Requests.query(context, known.toArray(String[]::new))) {
      Object value = form.ofText("query parameter", each.getKey(), each.getValue());
      // Of a parameter that is given twice, the first counts.
      if (!question.containsKey(each.getKey())) {
        question.put(each.getKey(), value);
      }
    }
    JsonObject ofPath = operation.ofPath(context::pathParam);
    ofPath.fieldNames().forEach(each -> Requests.ofPath(question, each, ofPath.getString(each)));
    if (form.caller() != null) {
      ofCaller(context, question, form.caller());
    }
    return question;
  }

  private static void ofCaller(RoutingContext context, JsonObject question, String field) {
    if (question.containsKey(field)) {
      throw ApiFailure.invalid("unknown field '" + field + "': it is whoever sends the request");
    }
    question.put(field, Callers.principal(context).name());
  }

  private void poll(RoutingContext context) {
    LongPoll.of(api, context, asked(context, Operations.POLL_MESSAGES)).answer();
  }

  private void watch(RoutingContext context) {
    LongPoll.of(api, context, asked(context, Operations.WATCH_CANDIDATE)).answer();
  }

  private static <Q extends Record> Q asked(RoutingContext context, Operation<Q, ?> operation) {
    return operation.question(question(context, operation));
  }

  /** If the request is a search, a header says where to read on: the last message does not. */
  private void browse(RoutingContext context) {
    Operation<?, ?> operation = Operations.BROWSE;
    JsonObject question = question(context, operation);
    if (question.containsKey("at") || question.containsKey("key")) {
      question.put("page", true);
    }
    api.answer(
        context,
        operation.status(),
        api.ask(context, operation.address(), question)
            .map(answer -> body(context, operation, answer)));
  }

  /** The answer without what is in headers of the response. */
  private static Object body(RoutingContext context, Operation<?, ?> operation, Object answer) {
    if (!(answer instanceof JsonObject all)) {
      return answer;
    }
    operation
        .headers()
        .forEach(
            (name, field) ->
                context.response().putHeader(name, String.valueOf(all.getValue(field))));
    return all.getValue(operation.oftenOnly());
  }
}
