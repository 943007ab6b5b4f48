package dev.evenkeel.client.internal.member;

import static dev.evenkeel.Futures.await;
import static org.assertj.core.api.Assertions.assertThat;

import dev.evenkeel.Closing;
import dev.evenkeel.Refused;
import dev.evenkeel.bus.Addresses;
import dev.evenkeel.bus.ClusterDirectory;
import dev.evenkeel.bus.FakeLink;
import dev.evenkeel.bus.Frames;
import dev.evenkeel.bus.Views;
import dev.evenkeel.client.DedupOptions;
import dev.evenkeel.dedup.SharedBucket;
import dev.evenkeel.dedup.SharedCodec;
import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.wire.ByteReader;
import dev.evenkeel.protocol.wire.Bytes;
import dev.evenkeel.protocol.wire.FeatureLevel;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.json.JsonObject;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

class ServiceDedupTest {
  @Closing private final Vertx vertx = Vertx.vertx();
  private final FakeLink link = new FakeLink(vertx);
  @Closing private final ClusterDirectory directory = new ClusterDirectory(link);
  private final SharedBucket bucket = new SharedBucket();

  /** As a node. */
  private synchronized Future<Buffer> steps(Buffer body, boolean named) {
    ByteReader in = new ByteReader(body.getBytes());
    assertThat(in.text()).isEqualTo("s-1");
    if (named) {
      assertThat(in.text()).isEqualTo("d");
    }
    SharedBucket.Replies replies =
        bucket.apply(SharedCodec.steps(in.raw(in.remaining())), Clock.millis(), 100);
    Bytes answer = new Bytes().i64(Clock.millis()).raw(SharedCodec.replies(replies));
    return Future.succeededFuture(Frames.answer(answer.view()));
  }

  private void serve() {
    link.become("s-1");
    link.serve(Addresses.DEDUP_STEPS, body -> steps(body, false));
    link.serve(Addresses.DEDUP_CLAIMS, body -> steps(body, true));
    link.serve(Addresses.DEDUP_HEARD, body -> Future.succeededFuture(Frames.answer(new byte[0])));
  }

  /** For a while, as a cluster that has just begun does not know what its nodes read. */
  @Test
  void nodesOfAnOlderVersionAreWaitedForAWhileOnly() {
    serve();
    List<Refusal> refusals = List.of(Refusal.WRONG_VERSION, Refusal.INVALID);
    AtomicInteger asked = new AtomicInteger();
    link.serve(
        Addresses.DEDUP_HEARD,
        body ->
            Future.succeededFuture(
                Frames.refusal(refusals.get(asked.getAndIncrement() % 2), "as told")));
    ServiceDedup dedup = ServiceDedup.over(link, directory, new DedupOptions().setName("d"));
    Refused.with(Refusal.UNAVAILABLE, () -> await(dedup.claim("k")), "older version");
    assertThat(asked.get()).isBetween(2, 100);
    Refused.with(Refusal.UNAVAILABLE, () -> await(dedup.claim("k")), "older version");
    assertThat(bucket.keys()).isZero();
    serve();
    assertThat(await(dedup.claim("k"))).isPresent();
    await(dedup.close());
  }

  @Test
  void membersOfTheBusAskTheView() {
    AtomicInteger level = new AtomicInteger(FeatureLevel.DEDUPS_BY_NAME - 1);
    link.serve(
        Addresses.VIEW,
        body -> {
          JsonObject view =
              Views.of("a", "a", List.of("a"), List.of("a"), List.of())
                  .toJson()
                  .put("featureLevel", level.get());
          return Future.succeededFuture(view.toBuffer());
        });
    Refused.with(
        Refusal.WRONG_VERSION, () -> await(ServiceDedup.known(directory)), "older version");
    level.set(FeatureLevel.DEDUPS_BY_NAME);
    await(ServiceDedup.known(directory));
    level.set(0);
    await(ServiceDedup.known(directory));
  }

  @Test
  void aLookThatFailsIsNotTheLast() {
    serve();
    AtomicInteger looks = new AtomicInteger();
    ServiceDedup dedup =
        ServiceDedup.over(
            link,
            directory,
            new DedupOptions().setName("d"),
            session -> {
              if (looks.incrementAndGet() < 5) {
                throw new IllegalStateException("not yet");
              }
              return LinkAutomata.ofService(link, session, "d");
            });
    assertThat(await(dedup.claim("k"))).isPresent();
    await(dedup.close());
  }
}
