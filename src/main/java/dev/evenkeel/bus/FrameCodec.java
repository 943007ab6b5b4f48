package dev.evenkeel.bus;

import io.netty.buffer.ByteBuf;
import io.vertx.core.Vertx;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.eventbus.DeliveryOptions;
import io.vertx.core.eventbus.MessageCodec;
import io.vertx.core.internal.buffer.BufferInternal;
import io.vertx.core.shareddata.Shareable;

/**
 * A codec of the event bus that does not copy large bodies. Sender and receiver share the bytes, so
 * neither may change them.
 *
 * <p>Both sides must register it. Brokers do so when they start, and links when they are made.
 */
public final class FrameCodec implements MessageCodec<Buffer, Buffer> {
  private static final String NAME = "evenkeel.frame";

  /** For a smaller body a copy costs less than naming the codec. */
  private static final int BYTES_MIN = 4_096;

  private static final DeliveryOptions LARGE = new DeliveryOptions().setCodecName(NAME);
  private static final DeliveryOptions SMALL = new DeliveryOptions();

  private record Known() implements Shareable {}

  FrameCodec() {}

  /** Registers the codec with a Vert.x, if that was not done before. */
  public static void register(Vertx vertx) {
    if (vertx.sharedData().getLocalMap(NAME).putIfAbsent(NAME, new Known()) == null) {
      vertx.eventBus().registerCodec(new FrameCodec());
    }
  }

  /** The delivery options for an answer of this size. */
  public static DeliveryOptions options(Buffer answer) {
    return answer.length() < BYTES_MIN ? SMALL : LARGE;
  }

  /** The delivery options for a request of this size. */
  public static DeliveryOptions options(Buffer request, long timeoutMillis) {
    return new DeliveryOptions(options(request)).setSendTimeout(timeoutMillis);
  }

  @Override
  public void encodeToWire(Buffer wire, Buffer body) {
    // Without this the wire's array would be the next power of two.
    ByteBuf bytes = ((BufferInternal) wire).getByteBuf().unwrap();
    bytes.capacity(Math.max(bytes.capacity(), wire.length() + 4 + body.length()));
    wire.appendInt(body.length()).appendBuffer(body);
    DirectAnswers.release(body);
  }

  @Override
  public Buffer decodeFromWire(int position, Buffer wire) {
    int begin = position + 4;
    return ((BufferInternal) wire).slice(begin, begin + wire.getInt(position));
  }

  @Override
  public Buffer transform(Buffer body) {
    return body;
  }

  @Override
  public String name() {
    return NAME;
  }

  @Override
  public byte systemCodecID() {
    return -1;
  }
}
