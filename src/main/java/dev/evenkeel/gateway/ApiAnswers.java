package dev.evenkeel.gateway;

import dev.evenkeel.api.Operation;
import dev.evenkeel.api.Operations;
import io.vertx.core.Future;
import io.vertx.core.json.JsonObject;
import java.util.HashMap;
import java.util.Map;
import java.util.function.BiFunction;
import java.util.function.Function;

/** Answers the questions of operations. */
final class ApiAnswers {
  private final Map<Operation<?, ?>, BiFunction<JsonObject, String, Future<Object>>> answers =
      new HashMap<>();

  /** Says who answers the questions of an operation. */
  <Q extends Record, A> ApiAnswers on(Operation<Q, A> operation, Function<Q, Future<A>> answer) {
    return by(operation, (asked, user) -> answer.apply(asked));
  }

  /**
   * Says who answers the questions of an operation.
   *
   * @param answer gets the question, and the user who asks; null: there are no users
   */
  <Q extends Record, A> ApiAnswers by(
      Operation<Q, A> operation, BiFunction<Q, String, Future<A>> answer) {
    answers.put(
        operation,
        (question, user) ->
            answer.apply(operation.question(question), user).map(operation::writeAnswer));
    return this;
  }

  /** Answers a question; fails INVALID if it is none of the address. */
  Future<Object> answer(String address, JsonObject question) {
    return answer(address, question, null);
  }

  /**
   * Answers a question; fails INVALID if it is none of the address.
   *
   * @param user who asks; null: there are no users
   */
  Future<Object> answer(String address, JsonObject question, String user) {
    return answers.get(Operations.of(address, question)).apply(question, user);
  }
}
