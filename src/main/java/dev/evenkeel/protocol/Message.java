package dev.evenkeel.protocol;

import static dev.evenkeel.protocol.Refusal.INVALID;
import static dev.evenkeel.protocol.Refusal.TOO_LARGE;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A message as a producer sends it and a consumer gets it. Arrays are not copied: do not change
 * them.
 *
 * <p>A message that a consumer gets is at first a view of the answer in which it came: its key,
 * headers and payload become objects of their own when they are first asked for. A view keeps the
 * whole answer in memory, which may be 1 MiB and more. The consumer {@link #detach() detaches} each
 * message whose handler does not end at once. So only an application that keeps messages after
 * their handlers have ended must detach them itself, or keep what is in them instead.
 *
 * <p>Safe for use from any thread.
 */
public sealed class Message permits LazyMessage {
  private final long timestampMillis;

  // In a view these are null until they are first asked for.

  byte @Nullable [] key;
  Map<String, byte[]> headers;
  byte[] payload;

  /**
   * @param key messages with the same key go to the same shard and keep their order; null for none;
   *     at most {@link Limits#KEY_BYTES_MAX} bytes
   * @param headers names and values, in their order; null counts as empty; at most {@link
   *     Limits#HEADERS_MAX} headers and {@link Limits#HEADERS_BYTES_MAX} bytes in all
   * @param timestampMillis time of the message, in milliseconds since 1970
   * @param payload the content, which may be empty but not null; at most {@link
   *     Limits#PAYLOAD_BYTES_MAX} bytes
   */
  public Message(
      byte @Nullable [] key,
      @Nullable Map<String, byte[]> headers,
      long timestampMillis,
      byte[] payload) {
    if (payload == null) {
      throw INVALID.error("a message needs a payload, which may be empty");
    }
    this.key = key;
    this.headers = headers == null ? Map.of() : headers;
    this.timestampMillis = timestampMillis;
    this.payload = payload;
  }

  /** For a view, which overrides all methods that look at the other parts. */
  @SuppressWarnings("NullAway.Init")
  Message(long timestampMillis) {
    this.timestampMillis = timestampMillis;
  }

  /**
   * A message without headers.
   *
   * @param key text; null for none
   */
  public static Message of(@Nullable String key, long timestampMillis, byte[] payload) {
    byte[] bytes = key == null ? null : key.getBytes(StandardCharsets.UTF_8);
    return new Message(bytes, Map.of(), timestampMillis, payload);
  }

  /**
   * Begins a message with a text as its payload, sent as UTF-8.
   *
   * <pre>{@code
   * Message.builder("hello").key("customer-7").header("trace", "4711").build()
   * }</pre>
   */
  public static Builder builder(String payload) {
    return builder(payload.getBytes(StandardCharsets.UTF_8));
  }

  /** Begins a message with bytes as its payload, which are not copied. */
  public static Builder builder(byte[] payload) {
    return new Builder(payload);
  }

  /** A message in the making. Its timestamp is the time when it is built, unless it is set. */
  public static final class Builder {
    private final byte[] payload;
    private final Map<String, byte[]> headers = new LinkedHashMap<>();
    private byte @Nullable [] key;
    private @Nullable Long timestampMillis;

    private Builder(byte[] payload) {
      this.payload = payload;
    }

    /** The key as text, sent as UTF-8; null for none. */
    public Builder key(@Nullable String key) {
      return key(key == null ? null : key.getBytes(StandardCharsets.UTF_8));
    }

    /** The key, which is not copied; null for none. */
    public Builder key(byte @Nullable [] key) {
      this.key = key;
      return this;
    }

    /** Adds a header with a text, sent as UTF-8. A second one of the same name replaces it. */
    public Builder header(String name, String value) {
      return header(name, value.getBytes(StandardCharsets.UTF_8));
    }

    /** Adds a header with bytes, which are not copied. */
    public Builder header(String name, byte[] value) {
      headers.put(name, value);
      return this;
    }

    /** Time of the message, in milliseconds since 1970. */
    public Builder timestampMillis(long timestampMillis) {
      this.timestampMillis = timestampMillis;
      return this;
    }

    /** The message. Its limits are checked when it is sent. */
    public Message build() {
      return new Message(
          key,
          Collections.unmodifiableMap(new LinkedHashMap<>(headers)),
          timestampMillis == null ? System.currentTimeMillis() : timestampMillis,
          payload);
    }
  }

  /** The key; null if there is none. */
  public byte @Nullable [] key() {
    return key;
  }

  /** Whether there is a key. */
  public boolean hasKey() {
    return key != null;
  }

  /** The key as UTF-8 text; null if there is none. */
  public @Nullable String keyText() {
    byte[] bytes = key();
    return bytes == null ? null : new String(bytes, StandardCharsets.UTF_8);
  }

  /** Names and values, in their order. */
  public Map<String, byte[]> headers() {
    return headers;
  }

  /** The value of a header; null if there is none of this name. */
  public final byte @Nullable [] header(String name) {
    return headers().get(name);
  }

  /** The value of a header as UTF-8 text; null if there is none of this name. */
  public final @Nullable String headerText(String name) {
    byte[] value = header(name);
    return value == null ? null : new String(value, StandardCharsets.UTF_8);
  }

  /** Time of the message, in milliseconds since 1970. */
  public long timestampMillis() {
    return timestampMillis;
  }

  /** The content. */
  public byte[] payload() {
    return payload;
  }

  /** The content as UTF-8 text. */
  public final String payloadText() {
    return new String(payload(), StandardCharsets.UTF_8);
  }

  /** Bytes of the content. */
  public int payloadLength() {
    return payload.length;
  }

  /** The content, read-only and not copied, from position 0 to its limit. */
  public ByteBuffer payloadBuffer() {
    return ByteBuffer.wrap(payload).asReadOnlyBuffer();
  }

  /**
   * Gives the message arrays of its own, so that it keeps nothing else in memory. Without effect if
   * it has them. Returns this message.
   */
  public Message detach() {
    return this;
  }

  /**
   * Checks the limits of payload, key and headers. Producers call it.
   *
   * @throws RefusedException {@link Refusal#TOO_LARGE}; the message names the limit
   */
  public void checkLimits() {
    limit("payload", payloadLength(), Limits.PAYLOAD_BYTES_MAX);
    byte[] bytes = key();
    limit("key", bytes == null ? 0 : bytes.length, Limits.KEY_BYTES_MAX);
    Map<String, byte[]> all = headers();
    if (all.isEmpty()) {
      return;
    }
    if (all.size() > Limits.HEADERS_MAX) {
      throw TOO_LARGE.error(all.size() + " headers: at most " + Limits.HEADERS_MAX);
    }
    long sum = 0;
    for (Map.Entry<String, byte[]> header : all.entrySet()) {
      sum += header.getKey().getBytes(StandardCharsets.UTF_8).length + header.getValue().length;
    }
    limit("headers", sum, Limits.HEADERS_BYTES_MAX);
  }

  private static void limit(String what, long bytes, int max) {
    if (bytes > max) {
      throw TOO_LARGE.error(what + " of " + bytes + " bytes: at most " + max + " are allowed");
    }
  }

  @Override
  public String toString() {
    return "message of " + payloadLength() + " bytes" + (hasKey() ? ", key " + keyText() : "");
  }
}
