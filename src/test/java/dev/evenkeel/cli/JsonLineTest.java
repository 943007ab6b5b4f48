package dev.evenkeel.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.evenkeel.client.Delivery;
import dev.evenkeel.protocol.Message;
import dev.evenkeel.protocol.wire.Bytes;
import io.vertx.core.json.JsonObject;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.LinkedHashMap;
import java.util.Map;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import org.junit.jupiter.api.Test;

class JsonLineTest {
  private static String json(byte[] key, byte[] payload) {
    Bytes out = new Bytes();
    JsonLine.json(
        out, new Delivery("t", 2, 17, new Message(key, Map.of(), 99, payload), "m", 3, 1));
    return new String(out.toArray(), StandardCharsets.UTF_8);
  }

  private static String json(Map<String, byte[]> headers) {
    Bytes out = new Bytes();
    Message message = new Message(null, headers, 99, new byte[0]);
    JsonLine.json(out, new Delivery("t", 2, 17, message, "m", 3, 1));
    return new String(out.toArray(), StandardCharsets.UTF_8);
  }

  @Test
  void headersAreTextOrBase64() {
    Map<String, byte[]> headers = new LinkedHashMap<>();
    headers.put("a \"b\"", utf8("ü\n"));
    headers.put("raw", new byte[] {(byte) 0xFF, 0});
    headers.put("", utf8(""));
    assertThat(json(headers))
        .endsWith(
            ",\"headers\":{\"a \\\"b\\\"\":\"ü\\n\",\"raw\":{\"base64\":\"/wA=\"},\"\":\"\"}}\n");
  }

  private static byte[] utf8(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }

  @Test
  void keysStandInTheOrderOfTheContract() {
    assertThat(json(utf8("k"), utf8("hello")))
        .isEqualTo(
            "{\"topic\":\"t\",\"shard\":2,\"offset\":17,\"key\":\"k\",\"payload\":\"hello\","
                + "\"timestamp\":99,\"member\":\"m\",\"epoch\":3,\"attempt\":1,\"headers\":{}}\n");
    assertThat(json(null, utf8(""))).contains("\"key\":null,\"payload\":\"\",");
  }

  @Test
  void whatIsNotUtf8IsBase64() {
    assertThat(json(new byte[] {(byte) 0xFF}, new byte[] {(byte) 0xC3, 0}))
        .contains("\"keyBase64\":\"/w==\",\"payloadBase64\":\"wwA=\",")
        .doesNotContain("\"payload\"");
  }

  @Property
  void anyTextComesBackInOneLine(@ForAll String key, @ForAll String payload) {
    // Halves of surrogate pairs have no UTF-8.
    String keyText = new String(utf8(key), StandardCharsets.UTF_8);
    String payloadText = new String(utf8(payload), StandardCharsets.UTF_8);
    String line = json(utf8(keyText), utf8(payloadText));
    assertThat(line.indexOf('\n')).isEqualTo(line.length() - 1);
    JsonObject read = new JsonObject(line);
    assertThat(read.getString("key")).isEqualTo(keyText);
    assertThat(read.getString("payload")).isEqualTo(payloadText);
  }

  @Property
  void anyBytesComeBack(@ForAll byte[] payload) {
    JsonObject read = new JsonObject(json(null, payload));
    byte[] back =
        read.containsKey("payload")
            ? utf8(read.getString("payload"))
            : Base64.getDecoder().decode(read.getString("payloadBase64"));
    assertThat(back).isEqualTo(payload);
  }
}
