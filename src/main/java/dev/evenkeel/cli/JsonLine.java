package dev.evenkeel.cli;

import dev.evenkeel.api.TextOrBytes;
import dev.evenkeel.client.Delivery;
import dev.evenkeel.protocol.wire.Bytes;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.Map;

/** Writes a message as one line: a JSON object, or the payload alone. */
final class JsonLine {
  private static final byte[] HEX = "0123456789abcdef".getBytes(StandardCharsets.US_ASCII);

  private JsonLine() {}

  /**
   * Writes an object with the keys topic, shard, offset, key, payload, timestamp, member, epoch,
   * attempt, headers, logGroup, logIndex, in this order; the last two only if they are known.
   */
  static void json(Bytes out, Delivery delivery) {
    ascii(out, "{\"topic\":");
    value(out, delivery.topic());
    ascii(out, ",\"shard\":" + delivery.shard() + ",\"offset\":" + delivery.offset());
    field(out, "key", delivery.message().key());
    field(out, "payload", delivery.message().payload());
    ascii(out, ",\"timestamp\":" + delivery.message().timestampMillis() + ",\"member\":");
    value(out, delivery.member());
    ascii(out, ",\"epoch\":" + delivery.epoch() + ",\"attempt\":" + delivery.attempt());
    headers(out, delivery.message().headers());
    if (delivery.logPosition() != null) {
      ascii(out, ",\"logGroup\":\"" + delivery.logPosition().groupName());
      ascii(out, "\",\"logIndex\":" + delivery.logPosition().index());
    }
    ascii(out, "}\n");
  }

  /** Writes the payload and a line end. */
  static void text(Bytes out, Delivery delivery) {
    out.raw(delivery.message().payload()).u8('\n');
  }

  private static void field(Bytes out, String name, byte[] bytes) {
    ascii(out, ",\"" + name);
    if (bytes == null) {
      ascii(out, "\":null");
    } else if (plain(bytes)) {
      ascii(out, "\":");
      quoted(out, bytes);
    } else {
      String text = TextOrBytes.textOrNull(bytes);
      if (text == null) {
        ascii(out, "Base64\":");
        quoted(out, Base64.getEncoder().encode(bytes));
      } else {
        ascii(out, "\":");
        value(out, text);
      }
    }
  }

  /** Each value as text, or as an object with the key base64 if it is not UTF-8. */
  private static void headers(Bytes out, Map<String, byte[]> headers) {
    ascii(out, ",\"headers\":{");
    boolean first = true;
    for (Map.Entry<String, byte[]> header : headers.entrySet()) {
      if (!first) {
        out.u8(',');
      }
      first = false;
      value(out, header.getKey());
      out.u8(':');
      String text = TextOrBytes.textOrNull(header.getValue());
      if (text == null) {
        ascii(out, "{\"base64\":");
        quoted(out, Base64.getEncoder().encode(header.getValue()));
        out.u8('}');
      } else {
        value(out, text);
      }
    }
    out.u8('}');
  }

  private static void quoted(Bytes out, byte[] plain) {
    out.u8('"').raw(plain).u8('"');
  }

  /** Whether the bytes are printable ASCII that needs no escape. */
  private static boolean plain(byte[] bytes) {
    for (byte b : bytes) {
      if (b < ' ' || b == '"' || b == '\\' || b == 0x7F) {
        return false;
      }
    }
    return true;
  }

  private static void value(Bytes out, String text) {
    if (text == null) {
      ascii(out, "null");
      return;
    }
    out.u8('"');
    for (byte b : text.getBytes(StandardCharsets.UTF_8)) {
      switch (b) {
        case '"', '\\' -> out.u8('\\').u8(b);
        case '\n' -> out.u8('\\').u8('n');
        case '\r' -> out.u8('\\').u8('r');
        case '\t' -> out.u8('\\').u8('t');
        default -> {
          if (b >= 0 && b < ' ' || b == 0x7F) {
            ascii(out, "\\u00");
            out.u8(HEX[b >> 4]).u8(HEX[b & 15]);
          } else {
            out.u8(b);
          }
        }
      }
    }
    out.u8('"');
  }

  private static void ascii(Bytes out, String text) {
    out.raw(text.getBytes(StandardCharsets.ISO_8859_1));
  }
}
