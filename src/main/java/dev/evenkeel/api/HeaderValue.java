package dev.evenkeel.api;

import org.jspecify.annotations.Nullable;

/**
 * The value of a header of a message. In JSON it is its text, or {@code {"base64": "..."}}.
 *
 * @param text null: the bytes are not UTF-8
 * @param base64 the bytes, if there is no text
 */
public record HeaderValue(@Nullable String text, @Nullable String base64) {
  public static HeaderValue of(String text) {
    return new HeaderValue(text, null);
  }
}
