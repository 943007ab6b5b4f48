package dev.evenkeel.api;

import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.RefusedException;
import io.vertx.core.json.JsonObject;
import java.nio.ByteBuffer;
import java.nio.CharBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Base64;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * A key, payload or header: text if its bytes are UTF-8, otherwise Base64. As a component of a
 * record, it is in the field of that name, or in one whose name ends in {@code Base64}; as a value
 * in a map, it is text or {@code {"base64": "..."}}.
 *
 * @param text null: see base64
 * @param base64 null: see text
 */
public record TextOrBytes(@Nullable String text, @Nullable String base64) {
  private static final String BASE64 = "base64";

  /** Null of null. */
  public static @Nullable TextOrBytes of(byte @Nullable [] bytes) {
    if (bytes == null) {
      return null;
    }
    String text = textOrNull(bytes);
    return text != null ? of(text) : ofBase64(Base64.getEncoder().encodeToString(bytes));
  }

  /** The headers of a message. */
  public static Map<String, TextOrBytes> of(Map<String, byte[]> headers) {
    Map<String, TextOrBytes> all = new LinkedHashMap<>();
    headers.forEach((name, value) -> all.put(name, of(value)));
    return Collections.unmodifiableMap(all);
  }

  public static TextOrBytes of(String text) {
    return new TextOrBytes(text, null);
  }

  static TextOrBytes ofBase64(String base64) {
    return new TextOrBytes(null, base64);
  }

  /** The text that {@code bytes} are in UTF-8; null if they are not UTF-8. */
  public static @Nullable String textOrNull(byte[] bytes) {
    String text = new String(bytes, StandardCharsets.UTF_8);
    // Decoding replaces malformed bytes by U+FFFD, but the text may also contain that character
    // itself.
    if (text.indexOf('\uFFFD') >= 0
        && !Arrays.equals(text.getBytes(StandardCharsets.UTF_8), bytes)) {
      return null;
    }
    return text;
  }

  /**
   * The bytes of what an untrusted program has sent.
   *
   * @param name of the field, for the message
   * @throws RefusedException INVALID if the text has no form in UTF-8: JSON can name one half of a
   *     character, like {@code \\ud83d}
   */
  public byte[] checkedBytes(String name) {
    return text == null ? bytes() : utf8(name, text);
  }

  /** As {@link #checkedBytes}, for a field that is text. */
  public static byte[] utf8(String name, String text) {
    try {
      ByteBuffer bytes = StandardCharsets.UTF_8.newEncoder().encode(CharBuffer.wrap(text));
      return Arrays.copyOf(bytes.array(), bytes.limit());
    } catch (CharacterCodingException e) {
      throw Refusal.INVALID.error(
          "the field '%s' has a half of a character (a lone surrogate), which has no form in UTF-8:"
              + " send bytes as base64",
          name);
    }
  }

  public byte[] bytes() {
    return text != null
        ? text.getBytes(StandardCharsets.UTF_8)
        : Base64.getDecoder().decode(base64);
  }

  /** The text, or the Base64. */
  @Override
  public String toString() {
    return text != null ? text : Objects.requireNonNull(base64);
  }

  /** The field in which a component is if it is not text. */
  public static String coded(String field) {
    return field + "Base64";
  }

  /** The JSON of a value in a map. */
  static Object write(Object value) {
    TextOrBytes of = (TextOrBytes) value;
    return of.text != null ? of.text : new JsonObject().put(BASE64, of.base64);
  }

  /** Reads a value in a map; null: it is none. */
  static @Nullable TextOrBytes read(Object json, JsonPath path) {
    return json instanceof JsonObject object
        ? coded(object.getValue(BASE64), path.field(BASE64))
        : json instanceof String text ? of(text) : null;
  }

  /**
   * Reads Base64; null: it is no text.
   *
   * @throws RefusedException INVALID with the reason, if the text is not Base64
   */
  static @Nullable TextOrBytes coded(@Nullable Object json, JsonPath path) {
    try {
      TextOrBytes coded = json instanceof String text ? ofBase64(text) : null;
      return coded == null || coded.bytes() == null ? null : coded;
    } catch (IllegalArgumentException e) {
      String right = JsonType.BASE64.right() + " (" + e.getMessage() + ")";
      throw RecordJson.wrong("field", path.toString(), json, right);
    }
  }
}
