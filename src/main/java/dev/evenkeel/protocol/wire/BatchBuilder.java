package dev.evenkeel.protocol.wire;

import dev.evenkeel.protocol.Limits;
import dev.evenkeel.protocol.Message;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Builds one {@link Batch}. A message is
 *
 * <pre>
 * varint  length of key + 1, or 0 for none    then the key
 * varlong timestamp - timestamp of the first message (zigzag)
 * varint  number of headers                   then each: varint, name, varint, value
 * varint  length of the payload               then the payload
 * </pre>
 */
public final class BatchBuilder {
  /** Most bytes that a message may need beyond its key, headers and payload. */
  private static final int MESSAGE_OVERHEAD_BYTES_MAX = 25;

  private final Bytes out;
  private final @Nullable BatchPacker packer;
  private int count;
  private long firstTimestamp;
  private long maxTimestamp;

  public BatchBuilder(int capacityBytes) {
    this(capacityBytes, null);
  }

  /**
   * @param packer compresses the batches; null: they are not compressed
   */
  public BatchBuilder(int capacityBytes, @Nullable BatchPacker packer) {
    this.packer = packer;
    out = new Bytes(capacityBytes);
    clear();
  }

  /** Starts the next batch in the same memory. */
  public void clear() {
    out.reset();
    out.raw(new byte[Batch.HEADER_BYTES]);
    count = 0;
  }

  public int count() {
    return count;
  }

  /** Bytes so far, not compressed, the header included. */
  public int bytes() {
    return out.size();
  }

  /** Whether a message fits into a batch that should stay below {@code batchBytes}. */
  public boolean fits(Message message, int batchBytes) {
    return count == 0
        || count < Limits.BATCH_MESSAGES_MAX && out.size() + sizeOf(message) <= batchBytes;
  }

  /** An upper bound of a message's bytes in a batch. */
  public static int sizeOf(Message message) {
    int size = MESSAGE_OVERHEAD_BYTES_MAX + message.payloadLength();
    byte[] key = message.key();
    size += key == null ? 0 : key.length;
    for (Map.Entry<String, byte[]> header : message.headers().entrySet()) {
      size += 10 + 3 * header.getKey().length() + header.getValue().length;
    }
    return size;
  }

  /** Adds a message that is within {@link Message#checkLimits() its limits}. */
  public void add(Message message) {
    long timestamp = message.timestampMillis();
    if (count == 0) {
      firstTimestamp = timestamp;
      maxTimestamp = timestamp;
    }
    maxTimestamp = Math.max(maxTimestamp, timestamp);
    byte[] key = message.key();
    if (key == null) {
      out.varint(0);
    } else {
      out.varint(key.length + 1).raw(key);
    }
    out.varlong(timestamp - firstTimestamp);
    out.varint(message.headers().size());
    for (Map.Entry<String, byte[]> header : message.headers().entrySet()) {
      byte[] name = header.getKey().getBytes(StandardCharsets.UTF_8);
      out.varint(name.length).raw(name);
      out.varint(header.getValue().length).raw(header.getValue());
    }
    out.varint(message.payload().length).raw(message.payload());
    count++;
  }

  /**
   * The finished batch, compressed if that makes it smaller. The builder may be cleared and used
   * again.
   */
  public Batch build(long producerId, int epoch, long firstSequence) {
    byte[] packed = packer == null ? null : packer.pack(out.view());
    byte[] bytes = packed == null ? out.toArray() : packed;
    ByteBuffer batch = ByteBuffer.wrap(bytes);
    batch.putShort(0, (short) Batch.MAGIC);
    batch.put(2, (byte) Batch.VERSION);
    batch.putInt(4, bytes.length);
    batch.putLong(12, producerId);
    batch.putInt(20, epoch);
    batch.putLong(24, firstSequence);
    batch.putInt(32, count);
    batch.putLong(36, firstTimestamp);
    batch.putLong(44, maxTimestamp);
    batch.putInt(Batch.CRC_AT, Batch.crc(batch));
    return new Batch(batch);
  }
}
