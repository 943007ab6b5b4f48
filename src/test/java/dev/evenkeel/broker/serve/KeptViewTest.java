package dev.evenkeel.broker.serve;

import static org.assertj.core.api.Assertions.assertThat;

import dev.evenkeel.bus.ViewQuestion;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.json.JsonObject;
import java.util.List;
import org.junit.jupiter.api.Test;

class KeptViewTest {
  private final KeptView kept = new KeptView();
  private int made;

  private JsonObject ask(Object of, long clockMillis) {
    Buffer answer =
        kept.answer(
            of,
            () -> {
              made++;
              return JsonObject.of("of", String.valueOf(of), "text", "}\"é");
            },
            clockMillis);
    return new JsonObject(answer);
  }

  @Test
  void anAnswerIsMadeOnceUntilSomethingChanges() {
    JsonObject first = ask(List.of("n1", 1L), 10);
    assertThat(first)
        .isEqualTo(JsonObject.of("of", "[n1, 1]", "text", "}\"é", ViewQuestion.CLOCK, 10));
    assertThat(ask(List.of("n1", 1L), 11)).isEqualTo(first.copy().put(ViewQuestion.CLOCK, 11));
    assertThat(made).isEqualTo(1);
    assertThat(ask(List.of("n2", 2L), 12).getString("of")).isEqualTo("[n2, 2]");
    assertThat(made).isEqualTo(2);
    assertThat(ask(List.of("n1", 1L), 13).getString("of")).isEqualTo("[n1, 1]");
    assertThat(made).isEqualTo(3);
  }
}
