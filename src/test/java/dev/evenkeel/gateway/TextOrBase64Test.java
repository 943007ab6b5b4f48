package dev.evenkeel.gateway;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.evenkeel.protocol.RefusedException;
import io.vertx.core.json.JsonObject;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;

class TextOrBase64Test {
  /** Java would store a question mark in its place. */
  @Test
  void halfACharacterIsRefused() {
    for (String half : new String[] {"\\ud83d", "x\\ude42y", "\\ude42\\ud83d"}) {
      JsonObject json = new JsonObject("{\"payload\":\"" + half + "\"}");
      assertThatThrownBy(() -> TextOrBase64.get(json, "payload"))
          .isInstanceOf(RefusedException.class)
          .hasMessageContaining("'payload' has a half of a character");
      assertThatThrownBy(() -> TextOrBase64.bytes("headers.h", json.getString("payload")))
          .isInstanceOf(RefusedException.class);
    }
    JsonObject whole = new JsonObject("{\"payload\":\"\\ud83d\\ude42 größe\"}");
    assertThat(TextOrBase64.get(whole, "payload"))
        .isEqualTo("🙂 größe".getBytes(StandardCharsets.UTF_8));
  }
}
