package dev.evenkeel.gateway.http;

import io.vertx.core.Future;
import io.vertx.core.buffer.Buffer;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.Supplier;

/**
 * Answers to requests that carried an {@code Idempotency-Key}: a request with the same key has the
 * first one's answer, and nothing is done twice. Remembered by this node, for a time and up to a
 * number. Used on one context.
 */
final class IdempotentAnswers {
  /** How long an answer is remembered: 10 minutes. */
  static final long KEPT_MILLIS = 600_000;

  /** Answers remembered; the oldest go first. */
  static final int KEYS_MAX = 10_000;

  /** Messages that remembered requests had, all together; the oldest requests go first. */
  static final int MESSAGES_MAX = 100_000;

  /** Longest key. */
  static final int KEY_CHARS_MAX = 200;

  /**
   * An answer.
   *
   * @param last whether a repeat of the request would have no other; if not, it is not remembered
   */
  record Answer(int status, Object json, boolean last) {}

  private record Place(String topic, String key) {}

  private record Known(
      int bodyHash, int bodyBytes, int messages, long sinceMillis, Future<Answer> answer) {}

  private final Map<Place, Known> known = new LinkedHashMap<>();
  private int messages;

  /**
   * The answer to the first request with this key, or what {@code work} gives.
   *
   * @param count messages of the request
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
    Place place = new Place(topic, key);
    Known before = known.get(place);
    if (before != null) {
      if (before.bodyHash() != body.hashCode() || before.bodyBytes() != body.length()) {
        throw new ApiFailure(
            422, "IDEMPOTENCY_KEY_REUSED", "the Idempotency-Key was used with another body before");
      }
      return before.answer();
    }
    Future<Answer> answer = work.get();
    Known now = new Known(body.hashCode(), body.length(), count, nowMillis, answer);
    known.put(place, now);
    messages += count;
    answer.onComplete(
        done -> {
          boolean again = done.failed() || !done.result().last();
          if (again && known.remove(place, now)) {
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
