package dev.evenkeel.gateway.http;

import static dev.evenkeel.Loops.times;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.evenkeel.gateway.http.IdempotentAnswers.Answer;
import io.vertx.core.Future;
import io.vertx.core.buffer.Buffer;
import org.junit.jupiter.api.Test;

class IdempotentAnswersTest {
  private final IdempotentAnswers answers = new IdempotentAnswers();
  private int works;
  private long nowMillis = 1;

  /** The number of the work whose answer it is. */
  private int ask(String user, String key, String body, int messages) {
    Future<Answer> answer =
        answers.answer(
            user,
            "orders",
            key,
            Buffer.buffer(body),
            messages,
            nowMillis,
            () -> Future.succeededFuture(new Answer(200, ++works, true)));
    return (int) answer.result().json();
  }

  @Test
  void aRepeatGetsTheFirstAnswerOfItsOwnUser() {
    assertThat(ask("a", "k", "x", 1)).isEqualTo(1);
    assertThat(ask("b", "k", "y", 1)).isEqualTo(2);
    assertThat(ask("a", "k", "x", 1)).isEqualTo(1);
    assertThat(ask("b", "k", "y", 1)).isEqualTo(2);
    assertThatThrownBy(() -> ask("a", "k", "y", 1)).hasMessageContaining("another body");
    nowMillis += IdempotentAnswers.KEPT_MILLIS;
    assertThat(ask("a", "k", "x", 1)).isEqualTo(3);
  }

  @Test
  void whoHasTheMostMakesRoom() {
    int first = ask("honest", "k", "x", 1);
    times(IdempotentAnswers.KEYS_MAX + 100, i -> ask("many", "k" + i, "x", 1));
    assertThat(ask("honest", "k", "x", 1)).isEqualTo(first);
    times(3, i -> ask("large", "k" + i, "x", IdempotentAnswers.MESSAGES_MAX - 10));
    assertThat(ask("honest", "k", "x", 1)).isEqualTo(first);
  }

  @Test
  void whereThereAreNoUsersTheOldestGoes() {
    int first = ask(null, "k", "x", 1);
    times(IdempotentAnswers.KEYS_MAX, i -> ask(null, "k" + i, "x", 1));
    assertThat(ask(null, "k", "x", 1)).isGreaterThan(first);
  }
}
