package dev.evenkeel.protocol;

import static dev.evenkeel.protocol.Refusal.INVALID;
import static dev.evenkeel.protocol.Refusal.TOO_LARGE;

import java.nio.charset.StandardCharsets;
import java.util.Map;

/**
 * A message as a producer sends it and a consumer gets it. Arrays are not copied: do not change
 * them.
 *
 * @param key messages with the same key go to the same shard and keep their order; null for none;
 *     at most {@link Limits#KEY_BYTES_MAX} bytes
 * @param headers names and values, in their order; null counts as empty; at most {@link
 *     Limits#HEADERS_MAX} headers and {@link Limits#HEADERS_BYTES_MAX} bytes in all
 * @param timestampMillis time of the message, in milliseconds since 1970
 * @param payload the content, which may be empty but not null; at most {@link
 *     Limits#PAYLOAD_BYTES_MAX} bytes
 */
public record Message(
    byte[] key, Map<String, byte[]> headers, long timestampMillis, byte[] payload) {

  public Message {
    if (payload == null) {
      throw INVALID.error("a message needs a payload, which may be empty");
    }
    headers = headers == null ? Map.of() : headers;
  }

  /**
   * A message without headers.
   *
   * @param key text, or null
   */
  public static Message of(String key, long timestampMillis, byte[] payload) {
    byte[] bytes = key == null ? null : key.getBytes(StandardCharsets.UTF_8);
    return new Message(bytes, Map.of(), timestampMillis, payload);
  }

  /** The key as UTF-8 text, or null if there is none. */
  public String keyText() {
    return key == null ? null : new String(key, StandardCharsets.UTF_8);
  }

  /**
   * Checks the limits of payload, key and headers. Producers call it.
   *
   * @throws RefusedException {@link Refusal#TOO_LARGE}; the message names the limit
   */
  public void checkLimits() {
    limit("payload", payload.length, Limits.PAYLOAD_BYTES_MAX);
    limit("key", key == null ? 0 : key.length, Limits.KEY_BYTES_MAX);
    if (headers.isEmpty()) {
      return;
    }
    if (headers.size() > Limits.HEADERS_MAX) {
      throw TOO_LARGE.error(headers.size() + " headers: at most " + Limits.HEADERS_MAX);
    }
    long sum = 0;
    for (Map.Entry<String, byte[]> header : headers.entrySet()) {
      sum += header.getKey().getBytes(StandardCharsets.UTF_8).length + header.getValue().length;
    }
    limit("headers", sum, Limits.HEADERS_BYTES_MAX);
  }

  private static void limit(String what, long bytes, int max) {
    if (bytes > max) {
      throw TOO_LARGE.error(what + " of " + bytes + " bytes: at most " + max + " are allowed");
    }
  }
}
