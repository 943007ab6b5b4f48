package dev.evenkeel.client.internal.member;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import dev.evenkeel.client.ConsumerOptions;
import dev.evenkeel.protocol.RefusedException;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import org.junit.jupiter.api.Test;

/** A refusal says which option is wrong. */
class RefusedSettingTest {
  private static String setting(String key, Object value) {
    JsonObject json = JsonObject.of("group", "g", "topics", JsonArray.of("t")).put(key, value);
    return catchThrowableOfType(
            RefusedException.class, () -> OptionsCheck.check(new ConsumerOptions(json)))
        .setting();
  }

  @Test
  void aRefusalNamesTheOption() {
    assertThat(setting("parallel", 0)).isEqualTo("parallel");
    assertThat(setting("parallel", "many")).isEqualTo("parallel");
    assertThat(setting("lockTimeMillis", 3_600_001L)).isEqualTo("lockTimeMillis");
    assertThat(setting("retryDelaysMillis", JsonArray.of(-1L))).isEqualTo("retryDelaysMillis");
    assertThat(setting("memberTimeoutMillis", 1_000L)).isEqualTo("memberTimeoutMillis");
    assertThat(setting("graceMillis", 1_000L)).isEqualTo("graceMillis");
    assertThat(setting("mode", "sideways")).isEqualTo("mode");
    assertThat(setting("range", 10)).isEqualTo("range");
  }

  @Test
  void anotherRefusalNamesNone() {
    assertThat(setting("topics", new JsonArray())).isNull();
  }
}
