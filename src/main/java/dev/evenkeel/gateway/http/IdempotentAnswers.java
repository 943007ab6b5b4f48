package dev.evenkeel.gateway.http;

import io.vertx.core.Future;
import io.vertx.core.buffer.Buffer;
import java.util.Comparator;
import java.util.HashMap;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.Supplier;
import java.util.function.ToIntFunction;

/**
 * Remembers the answers to requests with an {@code Idempotency-Key}, so that a repeated request of
 * a user gets the first answer and has no second effect. Only this node remembers them, for a
 * limited time and up to a limited number. For use on one context.
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

  /** The answers to one user, the oldest first. */
  private static final class OfUser {
    final Map<Request, Known> known = new LinkedHashMap<>();
    int messages;

    void removeOldest() {
      Iterator<Known> first = known.values().iterator();
      messages -= first.next().messages();
      first.remove();
    }
  }

  /** By user; the empty name stands for everybody where there are no users. */
  private final Map<String, OfUser> users = new HashMap<>();

  /**
   * The answer to the first request with this key; if this is the first one, the answer of {@code
   * work}.
   *
   * @param user who asks; null: there are no users
   * @param count number of messages in the request
   * @throws ApiFailure if the key is too long, or was used with another body
   */
  Future<Answer> answer(
      String user,
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
    OfUser own = users.computeIfAbsent(user == null ? "" : user, any -> new OfUser());
    Request request = new Request(topic, key);
    Known before = own.known.get(request);
    if (before != null) {
      if (before.bodyHash() != body.hashCode() || before.bodyBytes() != body.length()) {
        throw new ApiFailure(
            422, "IDEMPOTENCY_KEY_REUSED", "the Idempotency-Key was used with another body before");
      }
      return before.answer();
    }
    Future<Answer> answer = work.get();
    Known now = new Known(body.hashCode(), body.length(), count, nowMillis, answer);
    own.known.put(request, now);
    own.messages += count;
    answer.onComplete(
        done -> {
          boolean again = done.failed() || !done.result().last();
          if (again && own.known.remove(request, now)) {
            own.messages -= count;
          }
        });
    return answer;
  }

  /** Makes room at the cost of whoever has the most. */
  private void forget(long nowMillis) {
    for (OfUser each : users.values()) {
      while (!each.known.isEmpty()
          && nowMillis - each.known.values().iterator().next().sinceMillis() >= KEPT_MILLIS) {
        each.removeOldest();
      }
    }
    users.values().removeIf(each -> each.known.isEmpty());
    while (sum(each -> each.known.size()) >= KEYS_MAX) {
      most(each -> each.known.size()).removeOldest();
    }
    while (sum(each -> each.messages) >= MESSAGES_MAX) {
      most(each -> each.messages).removeOldest();
    }
  }

  private int sum(ToIntFunction<OfUser> of) {
    return users.values().stream().mapToInt(of).sum();
  }

  private OfUser most(ToIntFunction<OfUser> of) {
    return users.values().stream().max(Comparator.comparingInt(of)).orElseThrow();
  }
}
