package dev.evenkeel.client.internal.member;

import static dev.evenkeel.Futures.await;
import static org.assertj.core.api.Assertions.assertThat;

import dev.evenkeel.Closing;
import dev.evenkeel.bus.Addresses;
import dev.evenkeel.bus.FakeLink;
import dev.evenkeel.bus.Frames;
import dev.evenkeel.client.DedupOptions;
import dev.evenkeel.dedup.SharedBucket;
import dev.evenkeel.dedup.SharedCodec;
import dev.evenkeel.protocol.wire.ByteReader;
import dev.evenkeel.protocol.wire.Bytes;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.buffer.Buffer;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

class ServiceDedupTest {
  @Closing private final Vertx vertx = Vertx.vertx();
  private final FakeLink link = new FakeLink(vertx);
  private final SharedBucket bucket = new SharedBucket();

  /** As a node. */
  private synchronized Future<Buffer> steps(Buffer body) {
    ByteReader in = new ByteReader(body.getBytes());
    in.text();
    SharedBucket.Replies replies =
        bucket.apply(SharedCodec.steps(in.raw(in.remaining())), Clock.millis(), 100);
    Bytes answer = new Bytes().i64(Clock.millis()).raw(SharedCodec.replies(replies));
    return Future.succeededFuture(Frames.answer(answer.view()));
  }

  @Test
  void aLookThatFailsIsNotTheLast() {
    link.become("s-1");
    link.serve(Addresses.DEDUP_STEPS, this::steps);
    link.serve(Addresses.DEDUP_HEARD, body -> Future.succeededFuture(Frames.answer(new byte[0])));
    AtomicInteger looks = new AtomicInteger();
    ServiceDedup dedup =
        ServiceDedup.over(
            link,
            new DedupOptions().setName("d"),
            session -> {
              if (looks.incrementAndGet() < 5) {
                throw new IllegalStateException("not yet");
              }
              return LinkAutomata.of(link, session);
            });
    assertThat(await(dedup.claim("k"))).isPresent();
    await(dedup.close());
  }
}
