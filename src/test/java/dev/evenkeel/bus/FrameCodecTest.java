package dev.evenkeel.bus;

import static org.assertj.core.api.Assertions.assertThat;

import io.vertx.core.Vertx;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.eventbus.DeliveryOptions;
import io.vertx.core.internal.buffer.BufferInternal;
import io.vertx.junit5.Timeout;
import io.vertx.junit5.VertxExtension;
import io.vertx.junit5.VertxTestContext;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

@ExtendWith(VertxExtension.class)
@Timeout(value = 90, timeUnit = TimeUnit.SECONDS)
class FrameCodecTest {
  private static final long TIMEOUT_MILLIS = 1_234;

  private final FrameCodec codec = new FrameCodec();

  @Test
  void largeBodiesComeBackWithoutACopyAndWithoutAnArrayLargerThanNeeded() {
    Buffer body = Buffer.buffer(new byte[300_000]).setByte(299_999, (byte) 7);
    Buffer wire = Buffer.buffer().appendLong(1);
    codec.encodeToWire(wire, body);
    assertThat(((BufferInternal) wire).getByteBuf().unwrap().capacity()).isEqualTo(300_012);

    Buffer decoded = codec.decodeFromWire(8, wire);
    assertThat(decoded).isEqualTo(body);
    wire.setByte(12, (byte) 9);
    assertThat(decoded.getByte(0)).as("shares the bytes").isEqualTo((byte) 9);
  }

  @Test
  void onlyLargeRequestsNameTheCodec() {
    DeliveryOptions small = FrameCodec.options(Buffer.buffer("x"), TIMEOUT_MILLIS);
    DeliveryOptions large = FrameCodec.options(Buffer.buffer(new byte[4_096]), TIMEOUT_MILLIS);
    assertThat(small.getCodecName()).isNull();
    assertThat(large.getCodecName()).isEqualTo(codec.name());
    assertThat(small.getSendTimeout()).isEqualTo(TIMEOUT_MILLIS);
    assertThat(large.getSendTimeout()).isEqualTo(TIMEOUT_MILLIS);
  }

  @Test
  void aLargeRequestArrives(Vertx vertx, VertxTestContext test) {
    VertxLink link = new VertxLink(vertx, "me");
    vertx.eventBus().consumer("echo", message -> message.reply(message.body()));
    Buffer body = Buffer.buffer(new byte[10_000]).setByte(9_999, (byte) 7);
    link.request("echo", body, 30_000)
        .onComplete(
            test.succeeding(
                answer ->
                    test.verify(
                        () -> {
                          assertThat(answer).isEqualTo(body);
                          test.completeNow();
                        })));
  }
}
