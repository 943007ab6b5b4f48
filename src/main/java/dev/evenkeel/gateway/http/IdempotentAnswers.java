package dev.evenkeel.gateway.http;

import io.vertx.core.Future;
import io.vertx.core.buffer.Buffer;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.Supplier;

/**
 * Remembers the answers to requests with an {@code Idempotency-Key}, so that a repeated request
 * gets the first answer and has no second effect. Only this node remembers them, for a limited time
 * and up to a limited number. For use on one context.
 */
final class IdempotentAnswers {
  /** How long it remembers an answer: 10 minutes. */
  static final long KEPT_MILLIS = 600_000;

  /** Most answers; beyond it the oldest go. */
  static final int KEYS_MAX = 10_000;

  /** Most messages of all remembered requests; beyond it the oldest requests go. */
  static final int MESSAGES_MAX = 100_000;

  /** Longest key. */
  static final int KEY_CHARS_MAX = 200;

  /**
   * An answer.
   *
   * @param last whether a repeated request must get this answer; otherwise it is not remembered
   */
  record Answer(int status, Object json, boolean last) {}

  private record Request(String topic, String key) {}

  private record Known(
      int bodyHash, int bodyBytes, int messages, long sinceMillis, Future<Answer> answer) {}

  private final Map<Request, Known> known = new LinkedHashMap<>();
  private int messages;

  /**
   * The answer to the first request with this key; if this is the first one, the answer of {@code
   * work}.
   *
   * @param count number of messages in the request
   * @throws ApiFailure if the key is too long, or was used with another body
   */
  Future<Answer> answer(
      String topic,
      String key,
      Buffer body,
      int count,
      long nowMillis,
      Supplier<Future<Answer>> work) {
    if (key.isEmpty() || key.length() > KEY_CHARS_MAX) {
      throw ApiFailure.invalid("an Idempotency-Key has 1 to " + KEY_CHARS_MAX + " characters");
    }
    forget(nowMillis);
    Request request = new Request(topic, key);
    Known before = known.get(request);
    if (before != null) {
      if (before.bodyHash() != body.hashCode() || before.bodyBytes() != body.length()) {
        throw new ApiFailure(
            422, "IDEMPOTENCY_KEY_REUSED", "the Idempotency-Key was used with another body before");
      }
      return before.answer();
    }
    Future<Answer> answer = work.get();
    Known now = new Known(body.hashCode(), body.length(), count, nowMillis, answer);
    known.put(request, now);
    messages += count;
    answer.onComplete(
        done -> {
          boolean again = done.failed() || !done.result().last();
          if (again && known.remove(request, now)) {
            messages -= count;
          }
        });
    return answer;
  }

  private void forget(long nowMillis) {
    Iterator<Known> each = known.values().iterator();
    while (each.hasNext()) {
      Known oldest = each.next();
      boolean room = known.size() < KEYS_MAX && messages < MESSAGES_MAX;
      if (room && nowMillis - oldest.sinceMillis() < KEPT_MILLIS) {
        return;
      }
      each.remove();
      messages -= oldest.messages();
    }
  }
}
