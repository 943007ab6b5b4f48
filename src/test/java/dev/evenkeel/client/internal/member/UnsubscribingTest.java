package dev.evenkeel.client.internal.member;

import static dev.evenkeel.Futures.await;
import static org.assertj.core.api.Assertions.assertThat;

import dev.evenkeel.bus.Addresses;
import dev.evenkeel.bus.Frames;
import dev.evenkeel.client.Consumer;
import dev.evenkeel.protocol.Refusal;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.buffer.Buffer;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;

/** When a consumer asks that its group forgets a topic. */
class UnsubscribingTest extends MemberBench {
  private final Promise<Buffer> first = Promise.promise();
  private final AtomicInteger asked = new AtomicInteger();

  UnsubscribingTest() {
    super(1);
    cluster.createTopic(2, "u");
    cluster.serve(
        Addresses.groups("n1"),
        request ->
            asked.incrementAndGet() == 1
                ? first.future()
                : Future.succeededFuture(Frames.answer(new byte[0])));
  }

  private Consumer start(String... topics) {
    return start(
        options().setMember(null).setTopics(List.of(topics)), delivery -> Future.succeededFuture());
  }

  private void refuseFirst() {
    first.complete(Frames.refusal(Refusal.UNAVAILABLE, "it still subscribes"));
  }

  private Future<Boolean> leaves(Consumer consumer, String topic) {
    Future<Boolean> done = consumer.unsubscribe(topic);
    Awaitility.await().until(() -> asked.get() == 1);
    return done;
  }

  private void assertGivenUp(Future<Boolean> done) {
    Awaitility.await().until(done::isComplete);
    assertThat(done.cause()).hasMessageContaining("it is not known whether");
    assertThat(asked).hasValue(1);
  }

  @Test
  void aTopicThatAPatternStillMatchesIsNotForgotten() {
    first.complete(Frames.answer(new byte[0]));
    Consumer consumer = start("t", "u*", "u");
    assertThat(await(consumer.unsubscribe("u"))).isFalse();
    assertThat(asked).hasValue(0);
    await(consumer.close());
  }

  @Test
  void itAsksUntilTheGroupForgetsTheTopic() {
    Consumer consumer = start("t", "u");
    Future<Boolean> done = leaves(consumer, "u");
    refuseFirst();
    assertThat(await(done)).isTrue();
    await(consumer.close());
  }

  @Test
  void itDoesNotAskAgainOnceItReadsTheTopicAgain() {
    Consumer consumer = start("t", "u");
    Future<Boolean> done = leaves(consumer, "u");
    await(consumer.subscribe("u"));
    refuseFirst();
    assertGivenUp(done);
    await(consumer.close());
  }

  @Test
  void itDoesNotAskAgainOnceItHasEnded() {
    Consumer consumer = start("t", "u");
    Future<Boolean> done = leaves(consumer, "u");
    await(consumer.close());
    refuseFirst();
    assertGivenUp(done);
  }
}
