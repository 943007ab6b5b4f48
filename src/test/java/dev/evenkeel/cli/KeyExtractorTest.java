package dev.evenkeel.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;

class KeyExtractorTest {
  private static String key(KeyExtractor keys, String line) {
    byte[] key = keys.keyOf(line.getBytes(StandardCharsets.UTF_8));
    return key == null ? null : new String(key, StandardCharsets.UTF_8);
  }

  @Test
  void theFirstCaptureGroupIsTheKey() {
    KeyExtractor keys = KeyExtractor.regex("id=(\\w+|ü)");
    assertThat(key(keys, "x id=42 y")).isEqualTo("42");
    assertThat(key(keys, "id=ü")).isEqualTo("ü");
    assertThat(key(keys, "nothing")).isNull();
    assertThat(key(KeyExtractor.regex("a(b)?"), "a")).isNull();
    assertThat(key(KeyExtractor.regex("a(b*)"), "a")).isEmpty();
  }

  @Test
  void bytesThatAreNotUtf8KeepTheirBytes() {
    byte[] line = {'k', '=', (byte) 0xFF, (byte) 0xE4, ';'};
    assertThat(KeyExtractor.regex("k=([^;]+)").keyOf(line))
        .containsExactly((byte) 0xFF, (byte) 0xE4);
  }

  @Test
  void aFieldAtTheTopOfAnObjectIsTheKey() {
    KeyExtractor keys = KeyExtractor.jsonField("id");
    assertThat(key(keys, "{\"x\":{\"id\":1},\"y\":[{\"id\":2}],\"id\":\"a\\u00fc\"}"))
        .isEqualTo("aü");
    assertThat(key(keys, "{\"id\":12345678901234567890}")).isEqualTo("12345678901234567890");
    assertThat(key(keys, "{\"id\":1.50}")).isEqualTo("1.50");
    assertThat(key(keys, "{\"id\":null}")).isNull();
    assertThat(key(keys, "{\"id\":{\"a\":1}}")).isNull();
    assertThat(key(keys, "{\"x\":1}")).isNull();
    assertThat(key(keys, "[1]")).isNull();
    assertThat(key(keys, "{\"x\":")).isNull();
    assertThat(key(keys, "id")).isNull();
    assertThat(key(keys, "")).isNull();
  }
}
