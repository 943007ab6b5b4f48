package dev.evenkeel.gateway;

import dev.evenkeel.api.Operation;
import dev.evenkeel.api.Operations;
import io.vertx.core.Future;
import io.vertx.core.json.JsonObject;
import java.util.HashMap;
import java.util.Map;
import java.util.function.Function;

/** Answers the questions of operations. */
final class ApiAnswers {
  private final Map<Operation<?, ?>, Function<JsonObject, Future<Object>>> answers =
      new HashMap<>();

  /** Says who answers the questions of an operation. */
  <Q extends Record, A> ApiAnswers on(Operation<Q, A> operation, Function<Q, Future<A>> answer) {
    answers.put(
        operation,
        question -> answer.apply(operation.question(question)).map(operation::writeAnswer));
    return this;
  }

  /** Answers a question; fails INVALID if it is none of the address. */
  Future<Object> answer(String address, JsonObject question) {
    return answers.get(Operations.of(address, question)).apply(question);
  }
}
