package dev.evenkeel.bus;

import io.vertx.core.Vertx;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.eventbus.DeliveryOptions;
import io.vertx.core.eventbus.MessageCodec;
import io.vertx.core.internal.buffer.BufferInternal;
import io.vertx.core.shareddata.Shareable;

/**
 * Takes a large body out of what came over the wire without a copy, and hands it on within a JVM
 * without one. Nobody changes what was sent this way, neither before nor after.
 *
 * <p>Both sides must know it: brokers register it when they start, and so does every link.
 */
public final class FrameCodec implements MessageCodec<Buffer, Buffer> {
  private static final String NAME = "evenkeel.frame";

  /** Below it a copy costs less than what is said about the codec. */
  private static final int BYTES_MIN = 4_096;

  private static final DeliveryOptions LARGE = new DeliveryOptions().setCodecName(NAME);
  private static final DeliveryOptions SMALL = new DeliveryOptions();

  private record Known() implements Shareable {}

  private FrameCodec() {}

  /** Makes the codec known to a Vert.x, once. */
  public static void register(Vertx vertx) {
    if (vertx.sharedData().getLocalMap(NAME).putIfAbsent(NAME, new Known()) == null) {
      vertx.eventBus().registerCodec(new FrameCodec());
    }
  }

  /** How to send an answer. */
  public static DeliveryOptions options(Buffer answer) {
    return answer.length() < BYTES_MIN ? SMALL : LARGE;
  }

  @Override
  public void encodeToWire(Buffer wire, Buffer body) {
    wire.appendInt(body.length()).appendBuffer(body);
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
