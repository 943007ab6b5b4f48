package dev.evenkeel.protocol.wire;

import static dev.evenkeel.protocol.Refusal.INVALID;

import dev.evenkeel.protocol.MalformedException;
import dev.evenkeel.protocol.Message;
import dev.evenkeel.protocol.Outcome;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;

/**
 * Bytes of one message apart from any batch: {@code u8 version (1)}, timestamp, key, headers and
 * payload. Retries and dead letters keep their copies in this form.
 */
public final class MessageCodec {
  private static final int VERSION = 1;

  private MessageCodec() {}

  public static byte[] encode(Message message) {
    Bytes out = new Bytes(64 + message.payload().length);
    out.u8(VERSION).i64(message.timestampMillis()).blob(message.key());
    out.i32(message.headers().size());
    message.headers().forEach((name, value) -> out.text(name).blob(value));
    return out.blob(message.payload()).toArray();
  }

  /**
   * @throws dev.evenkeel.protocol.RefusedException INVALID or WRONG_VERSION
   */
  public static Message decode(byte[] bytes) {
    ByteReader in = new ByteReader(bytes);
    Codec.checkForm("a message's copy", in.u8(), VERSION, VERSION);
    long timestamp = in.i64();
    byte[] key = in.blob();
    int count = in.count();
    Map<String, byte[]> headers = count == 0 ? Map.of() : new LinkedHashMap<>();
    for (int i = 0; i < count; i++) {
      headers.put(in.text(), in.blob());
    }
    byte[] payload = in.blob();
    in.end();
    if (payload == null) {
      throw INVALID.error("a message needs a payload, which may be empty");
    }
    return new Message(key, headers, timestamp, payload);
  }

  /**
   * Checks that the copies of the messages can be read.
   *
   * @throws MalformedException if one cannot be read
   */
  public static void checkCopies(List<Outcome> outcomes) {
    for (Outcome outcome : outcomes) {
      if (outcome.copy() != null) {
        Message message = decode(outcome.copy());
        if (message.payload() == null
            || message.headers().values().stream().anyMatch(Objects::isNull)) {
          throw new MalformedException(
              INVALID, "the copy of message " + outcome.offset() + " lacks a part");
        }
      }
    }
  }
}
