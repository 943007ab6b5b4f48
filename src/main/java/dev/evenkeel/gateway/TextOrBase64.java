package dev.evenkeel.gateway;

import dev.evenkeel.api.TextOrBytes;
import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.RefusedException;
import io.vertx.core.json.JsonObject;
import java.nio.ByteBuffer;
import java.nio.CharBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Base64;

/**
 * Writes bytes into JSON and reads them back: as text if they are UTF-8, otherwise as base64 in a
 * field whose name ends in {@code Base64}.
 */
public final class TextOrBase64 {
  private TextOrBase64() {}

  /** Writes {@code bytes}, which may be null, into {@code json}. */
  public static void put(JsonObject json, String field, byte[] bytes) {
    String text = bytes == null ? null : TextOrBytes.textOrNull(bytes);
    if (bytes != null && text == null) {
      json.put(field + "Base64", Base64.getEncoder().encodeToString(bytes));
    } else {
      json.put(field, text);
    }
  }

  /**
   * Reads {@code field} or {@code fieldBase64}; null if there is neither.
   *
   * @throws RefusedException INVALID if both are there, or one is not what it should be
   */
  public static byte[] get(JsonObject json, String field) {
    Object text = json.getValue(field);
    Object coded = json.getValue(field + "Base64");
    if (text != null && coded != null) {
      throw new RefusedException(
          Refusal.INVALID, "give either " + field + " or " + field + "Base64, not both");
    }
    if (text != null) {
      return utf8(field, JsonFields.text(json, field));
    }
    return coded == null ? null : decode(field + "Base64", JsonFields.text(json, field + "Base64"));
  }

  /** The form for fields whose names must stay: text, or {@code {"base64": "..."}}. */
  static Object value(byte[] bytes) {
    String text = TextOrBytes.textOrNull(bytes);
    return text != null
        ? text
        : new JsonObject().put("base64", Base64.getEncoder().encodeToString(bytes));
  }

  /** Reads what {@link #value} wrote. */
  static byte[] bytes(String name, Object value) {
    if (value instanceof String text) {
      return utf8(name, text);
    }
    if (value instanceof JsonObject json && json.getValue("base64") instanceof String coded) {
      return decode(name, coded);
    }
    throw new RefusedException(
        Refusal.INVALID, name + " must be a string or {\"base64\": \"...\"}");
  }

  /**
   * The text in UTF-8.
   *
   * @throws RefusedException INVALID if it has no form in UTF-8: JSON can name one half of a
   *     character, like {@code \\ud83d}
   */
  static byte[] utf8(String name, String text) {
    try {
      ByteBuffer bytes = StandardCharsets.UTF_8.newEncoder().encode(CharBuffer.wrap(text));
      return Arrays.copyOf(bytes.array(), bytes.limit());
    } catch (CharacterCodingException e) {
      throw new RefusedException(
          Refusal.INVALID,
          "the field '"
              + name
              + "' has a half of a character (a lone surrogate), which has no form in UTF-8: send"
              + " bytes as base64");
    }
  }

  private static byte[] decode(String name, String coded) {
    try {
      return Base64.getDecoder().decode(coded);
    } catch (IllegalArgumentException e) {
      throw new RefusedException(
          Refusal.INVALID, "the field '" + name + "' is not base64: " + e.getMessage());
    }
  }
}
