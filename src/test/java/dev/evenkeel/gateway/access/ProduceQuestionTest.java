package dev.evenkeel.gateway.access;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.evenkeel.api.ApiAddresses;
import dev.evenkeel.protocol.RefusedException;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import org.junit.jupiter.api.Test;

/** Many messages may come as a bare array, as over HTTP, or as a field of an object. */
class ProduceQuestionTest {
  private static final String MANY =
      " [{\"topic\":\"t\",\"payload\":\"a\"},{\"topic\":\"t\",\"key\":\"k\",\"payload\":\"b\"}]";
  private static final JsonObject QUESTION =
      new JsonObject(
          "{\"topic\":\"t\",\"messages\":[{\"payload\":\"a\"},{\"key\":\"k\",\"payload\":\"b\"}]}");

  @Test
  void anArrayOfMessagesMeansTheSameAsTheObject() {
    assertThat(ProduceQuestion.of(MANY)).isEqualTo(QUESTION);
    assertThat(ProduceQuestion.of(Buffer.buffer(MANY))).isEqualTo(QUESTION);
    assertThat(ProduceQuestion.of(new JsonArray(MANY))).isEqualTo(QUESTION);
    assertThat(ProduceQuestion.of(QUESTION)).isSameAs(QUESTION);
    assertThat(SessionRules.api(Principal.ANYBODY, ApiAddresses.PRODUCE, Buffer.buffer(MANY)))
        .isEqualTo(QUESTION);
  }

  /** Permissions and quotas are those of one topic. */
  @Test
  void allMessagesNameOneTopic() {
    for (String bad :
        new String[] {
          "[]",
          "[1]",
          "[{\"payload\":\"a\"}]",
          "[{\"topic\":\"t\",\"payload\":\"a\"},{\"topic\":\"u\",\"payload\":\"a\"}]",
          "[{\"topic\":\"t\",\"payload\":\"a\"},{\"payload\":\"a\"}]",
          "[{"
        }) {
      assertThatThrownBy(() -> ProduceQuestion.of(bad))
          .as(bad)
          .isInstanceOf(RefusedException.class);
    }
  }
}
