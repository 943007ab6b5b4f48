package dev.evenkeel.model;

import dev.evenkeel.model.UserModel.Sent;
import dev.evenkeel.protocol.Limits;
import dev.evenkeel.protocol.Message;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;

/** What messages consist of: all of it follows from their number. */
public final class Content {
  /** The header with the number. */
  static final String ID = "id";

  private static final int USUAL_BYTES_MAX = 700;

  private Content() {}

  public static Message of(Sent sent, boolean large) {
    return Message.builder(payload(sent, large))
        .key(sent.key)
        .header(ID, String.valueOf(sent.id))
        .header(Kind.TAG, sent.tag)
        .timestampMillis(timestampMillis(sent))
        .build();
  }

  static long timestampMillis(Sent sent) {
    return 1_700_000_000_000L + sent.id;
  }

  /** Mostly short, sometimes empty; a large one is nearly as long as it may be. */
  static byte[] payload(Sent sent, boolean large) {
    int length =
        large ? Limits.PAYLOAD_BYTES_MAX - sent.id % 1_000 : sent.id * 7919 % USUAL_BYTES_MAX;
    byte[] payload = new byte[length];
    Arrays.fill(payload, (byte) ('a' + sent.id % 26));
    return payload;
  }

  public static int id(Message message) {
    return Integer.parseInt(message.headerText(ID));
  }

  /** Whether it is what was sent. */
  public static boolean isIntact(Sent sent, Message message) {
    Map<String, String> headers = new HashMap<>();
    message
        .headers()
        .forEach((name, value) -> headers.put(name, new String(value, StandardCharsets.UTF_8)));
    return isIntact(sent, message.keyText(), message.timestampMillis(), headers, message.payload());
  }

  /** Whether it has the key, the time and the payload with which it was sent, and its tag. */
  static boolean isIntact(
      Sent sent, String key, long timestampMillis, Map<String, String> headers, byte[] payload) {
    boolean large = payload.length > USUAL_BYTES_MAX;
    return sent != null
        && String.valueOf(sent.key).equals(String.valueOf(key))
        && timestampMillis == timestampMillis(sent)
        && sent.tag.equals(headers.get(Kind.TAG))
        && Arrays.equals(payload(sent, large), payload);
  }
}
