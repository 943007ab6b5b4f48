package dev.evenkeel.protocol.wire;

import static dev.evenkeel.Loops.times;

import dev.evenkeel.protocol.Message;
import dev.evenkeel.protocol.RefusedException;
import java.math.BigInteger;
import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Reads the messages of a batch as the page of the protocol describes them, and shares nothing with
 * the code that it is compared with, except for the libraries that unpack.
 */
final class WrittenMessages {
  private static final int VARINT_BITS = 31;
  private static final int VARLONG_BITS = 64;

  private WrittenMessages() {}

  /** The messages, or null if the protocol does not allow this batch. */
  static List<Message> of(Batch batch) {
    try {
      ByteBuffer in = batch.messages();
      List<Message> messages = new ArrayList<>();
      times(batch.count(), i -> messages.add(message(in, batch.firstTimestampMillis())));
      return in.hasRemaining() ? null : messages;
    } catch (RefusedException | ArithmeticException | BufferUnderflowException malformed) {
      return null;
    }
  }

  private static Message message(ByteBuffer in, long firstTimestampMillis) {
    int key = number(in, VARINT_BITS).intValueExact();
    byte[] keyBytes = key == 0 ? null : bytes(in, key - 1);
    long zigzag = number(in, VARLONG_BITS).longValue();
    long later = zigzag >>> 1 ^ -(zigzag & 1);
    int headers = number(in, VARINT_BITS).intValueExact();
    Map<String, byte[]> read = new LinkedHashMap<>();
    long headerBytes = 0;
    for (int i = 0; i < headers; i++) {
      byte[] name = sized(in);
      byte[] value = sized(in);
      headerBytes += name.length + value.length;
      read.put(new String(name, StandardCharsets.UTF_8), value);
    }
    if (headers > 64 || headerBytes > 32_768) {
      throw new ArithmeticException("headers");
    }
    byte[] payload = sized(in);
    if (payload.length > 1_048_576 || keyBytes != null && keyBytes.length > 32_768) {
      throw new ArithmeticException("payload or key");
    }
    return new Message(keyBytes, read, firstTimestampMillis + later, payload);
  }

  private static byte[] sized(ByteBuffer in) {
    return bytes(in, number(in, VARINT_BITS).intValueExact());
  }

  private static byte[] bytes(ByteBuffer in, int length) {
    if (length > in.remaining()) {
      throw new BufferUnderflowException();
    }
    byte[] bytes = new byte[length];
    in.get(bytes);
    return bytes;
  }

  /** An unsigned LEB128 number. It may have no more bytes than its bits need. */
  private static BigInteger number(ByteBuffer in, int bits) {
    BigInteger value = BigInteger.ZERO;
    for (int shift = 0; shift < bits; shift += 7) {
      int next = in.get();
      value = value.or(BigInteger.valueOf(next & 0x7F).shiftLeft(shift));
      if (next >= 0) {
        if (value.bitLength() > bits) {
          break;
        }
        return value;
      }
    }
    throw new ArithmeticException("a number of more than " + bits + " bits");
  }
}
