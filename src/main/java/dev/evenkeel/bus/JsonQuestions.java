package dev.evenkeel.bus;

import dev.evenkeel.api.RecordJson;
import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.RefusedException;
import io.vertx.core.json.JsonObject;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.BiFunction;

/**
 * Says who answers which question in JSON: one row for each kind. At one address, all kinds are
 * told from each other by a field that they have, or all by their {@code action}.
 *
 * @param <C> what an answer needs beside the question
 * @param <R> what an answer gives
 */
public final class JsonQuestions<C, R> {
  static final String ACTION = "action";

  private record Row<Q extends Record, C, R>(RecordJson<Q> form, BiFunction<Q, C, R> answer) {
    R answer(JsonObject question, C context) {
      return answer.apply(form.read(question), context);
    }
  }

  private final Map<String, Row<?, C, R>> byField = new LinkedHashMap<>();
  private final Map<String, Row<?, C, R>> byAction = new LinkedHashMap<>();

  /** Answers questions that have a field with the name of the first component. */
  public <Q extends Record> JsonQuestions<C, R> on(Class<Q> type, BiFunction<Q, C, R> answer) {
    String first = type.getRecordComponents()[0].getName();
    byField.put(first, new Row<>(RecordJson.of(type), answer));
    return this;
  }

  /** Answers questions with this action. */
  public <Q extends Record> JsonQuestions<C, R> on(
      String action, Class<Q> type, BiFunction<Q, C, R> answer) {
    byAction.put(action, new Row<>(RecordJson.of(type), answer));
    return this;
  }

  /**
   * Answers a question; one that is of no kind with fields in it is that of the last kind.
   *
   * @throws RefusedException INVALID for a question that is malformed, or an unknown action
   */
  public R answer(JsonObject question, C context) {
    Row<?, C, R> found = byAction.get(question.getString(ACTION, ""));
    for (Map.Entry<String, Row<?, C, R>> each : byField.entrySet()) {
      found = each.getValue();
      if (question.containsKey(each.getKey())) {
        break;
      }
    }
    if (found == null) {
      throw Refusal.INVALID.error("unknown action: %s", question);
    }
    return found.answer(question, context);
  }
}
