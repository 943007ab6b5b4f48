package dev.evenkeel.protocol.wire;

import dev.evenkeel.protocol.MalformedException;
import dev.evenkeel.protocol.Message;
import java.nio.ByteBuffer;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * Reads the messages of a batch in order.
 *
 * <p>If the batch's inside is malformed or cannot be unpacked, {@link #next()} throws {@link
 * MalformedException} at the first message that it cannot read, and at each message behind it:
 * {@link #giveUp} skips one.
 */
public final class BatchReader {
  /** Null if nothing can be read. */
  private final ByteReader in;

  private final long firstTimestamp;
  private final long endOffset;
  private long nextOffset;
  private MalformedException broken;

  BatchReader(Batch batch, long baseOffset) {
    ByteBuffer messages = null;
    try {
      messages = batch.messages();
    } catch (MalformedException malformed) {
      broken = malformed;
    }
    in = messages == null ? null : new ByteReader(messages);
    firstTimestamp = batch.firstTimestampMillis();
    nextOffset = baseOffset;
    endOffset = baseOffset + batch.count();
  }

  /** Reads messages of the batch from {@code messages} on, whatever their offsets are. */
  BatchReader(Batch batch, ByteBuffer messages) {
    in = new ByteReader(messages);
    firstTimestamp = batch.firstTimestampMillis();
    endOffset = batch.count();
  }

  public boolean hasNext() {
    return nextOffset < endOffset;
  }

  /** The offset of the message that {@link #next()} reads. */
  public long nextOffset() {
    return nextOffset;
  }

  /** Skips a message that cannot be read. The messages behind it cannot be read either. */
  public void giveUp() {
    nextOffset++;
  }

  public Message next() {
    if (broken != null) {
      throw broken;
    }
    try {
      return read();
    } catch (MalformedException malformed) {
      // Where the next one begins is unknown.
      broken = malformed;
      throw malformed;
    }
  }

  private Message read() {
    int keyLength = in.varint();
    byte[] key = keyLength == 0 ? null : in.raw(keyLength - 1);
    long timestamp = firstTimestamp + in.varlong();
    int headerCount = in.varint();
    Map<String, byte[]> headers = Map.of();
    if (headerCount > 0) {
      headers = new LinkedHashMap<>();
      for (int i = 0; i < headerCount; i++) {
        String name = new String(in.raw(in.varint()), java.nio.charset.StandardCharsets.UTF_8);
        headers.put(name, in.raw(in.varint()));
      }
    }
    byte[] payload = in.raw(in.varint());
    nextOffset++;
    return new Message(key, headers, timestamp, payload);
  }
}
